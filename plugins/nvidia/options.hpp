// SPDX-License-Identifier: Apache-2.0
// What the NVIDIA plugin can be told.
#pragma once

#include <cstdint>
#include <string>

#include "hbf/sdk/plugin.hpp"

namespace hbf::nvidia {

enum class Choice { automatic, off };

struct Options {
    std::string device;                                       // id, part of a name, PCI address, UUID or ordinal; "": any
    uint64_t hbm_bytes = 0, pinned_bytes = 0, peer_bytes = 0; // capacities of the tiers; 0: the plugin's choice
    uint64_t persisting_l2 = 0;                               // bytes set aside for what kernels read again; 0: none
    std::string storage;                                      // folder of the storage tier; "": there is none
    uint64_t storage_bytes = uint64_t{1} << 30;               // of its file
    Choice peers = Choice::automatic, batches = Choice::automatic, virtual_memory = Choice::automatic;
};

// Throws INVALID, naming the option and the nearest known one, or what its value should be.
Options parse_options(const sdk::Options &options);

} // namespace hbf::nvidia
