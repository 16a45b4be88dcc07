// SPDX-License-Identifier: Apache-2.0
// Ordered pairs of tiers between which a case copies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/suite/device.hpp"

namespace hbf::conformance {

struct Route {
    uint32_t from = 0, to = 0; // tier index; HBF_TIER_NONE: registered host memory
    std::string from_name, to_name;
    std::string name() const { return from_name + " to " + to_name; }
};

// From every tier that the CPU reaches, and from registered host memory, to every other tier. A plugin of one tier: to
// itself.
std::vector<Route> routes_from_cpu(const Instance &device);
std::vector<Route> routes_to_cpu(const Instance &device); // the same, turned round
std::vector<Route> routes_both(const Instance &device);   // both, each once, those to the CPU first
std::vector<Route> routes_within(const Instance &device); // each tier to itself

} // namespace hbf::conformance
