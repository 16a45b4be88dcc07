// SPDX-License-Identifier: Apache-2.0
// Does what one device writes arrive in another's memory, and is what it reads there right?
#pragma once

#include <cstdint>
#include <string>

#include "plugins/stream/kernel_table.hpp"

namespace hbf::amd {

struct PeerTruth {
    std::string copies;  // "": they are right; else what was wrong
    std::string kernels; // the same of stores and loads of kernels
    uint64_t free = 0;   // bytes of the other's memory
};

// Peer access is enabled. Throws sdk::Failure where the runtime refuses what it takes. Limited to seconds: what does not end
// by then is left as it is, memory and all.
PeerTruth probe_peer(int device, int other, stream::KernelTable *kernels);

} // namespace hbf::amd
