// SPDX-License-Identifier: Apache-2.0
// Outcomes of a shape, counted.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "conformance/litmus/shape.hpp"

namespace hbf::litmus {

// One outcome: the value of each register, then of each location at the end, decoded (0: initial; stale_value, alien_value).
struct Observed {
    std::array<uint8_t, most_registers> registers{};
    std::array<uint8_t, most_locations> finals{};
    auto operator<=>(const Observed &) const = default;
};

bool holds(const Outcome &asked, const Observed &seen);
bool asked(const Shape &shape, const Observed &seen);            // any of the shape's asked outcomes
bool impossible(const Observed &seen);                           // a value that nobody stored there, in this instance
bool violates(const Shape &shape, const Observed &seen);         // impossible, or asked and forbidden
std::string to_string(const Shape &shape, const Observed &seen); // "r0=1 r1=0 [x]=1 [y]=1"

struct Histogram {
    std::map<Observed, uint64_t> counts;
    uint64_t instances = 0; // the sum of counts

    void add(const Observed &seen, uint64_t count = 1);
    void add(const Histogram &other);
    uint64_t asked(const Shape &shape) const;
    uint64_t impossible() const;
    uint64_t violations(const Shape &shape) const;
};

} // namespace hbf::litmus
