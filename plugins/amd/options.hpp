// SPDX-License-Identifier: Apache-2.0
// What the AMD plugin can be told.
#pragma once

#include <cstdint>
#include <string>

#include "hbf/sdk/plugin.hpp"

namespace hbf::amd {

// Who sees whose stores in memory that the runtime gives: hipExtMallocWithFlags and hipHostMalloc take it for each
// allocation.
enum class CoherenceClass : uint8_t {
    coarse,   // device: cached; seen by others once a command has completed
    fine,     // seen by others while commands run
    uncached, // not cached by the device at all
};

struct AmdOptions {
    std::string device;                                                    // part of an id or name, or an index; "": any
    uint64_t hbm_bytes = 0, host_bytes = 0, cxl_bytes = 0, peer_bytes = 0; // capacities; 0: the plugin's choice
    CoherenceClass hbm_class = CoherenceClass::coarse, host_class = CoherenceClass::fine;
    bool peers = true, cxl = true; // whether there are such tiers
};

// Throws INVALID, naming the option and the nearest known one, or what its value should be.
AmdOptions parse_options(const sdk::Options &options);

const char *name_of(CoherenceClass kind) noexcept;

} // namespace hbf::amd
