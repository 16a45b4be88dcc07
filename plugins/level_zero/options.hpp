// SPDX-License-Identifier: Apache-2.0
// What the Level Zero plugin can be told.
#pragma once

#include <cstdint>
#include <string>

#include "hbf/sdk/plugin.hpp"

namespace hbf::level_zero {

struct Options {
    std::string device;                                            // "": any
    uint64_t device_bytes = 0, pinned_bytes = 0, shared_bytes = 0; // capacities of the tiers; 0: the plugin's choice
    bool copy_engine = true;                                       // else all copies go to the compute engine
};

// Throws INVALID, naming the option and the nearest known one, or what its value should be.
Options parse_options(const sdk::Options &options);

} // namespace hbf::level_zero
