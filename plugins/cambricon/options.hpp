// SPDX-License-Identifier: Apache-2.0
// What the Cambricon plugin can be told.
#pragma once

#include <cstdint>

#include "hbf/sdk/plugin.hpp"

namespace hbf::cambricon {

struct CambriconOptions {
    uint64_t device_bytes = 0, pinned_bytes = 0; // capacities of the tiers; 0: the plugin's choice
};

// Throws INVALID, naming the option and the nearest known one, or what its value should be.
CambriconOptions parse_options(const sdk::Options &options);

} // namespace hbf::cambricon
