// SPDX-License-Identifier: Apache-2.0
// Which other devices' memory this one really reaches.
//
// What the runtime advertises is a hint only: there are machines where it says yes and what is written goes nowhere (a
// translating IOMMU, redirecting ACS), or where copies arrive and stores of kernels do not. So each direction is tried, by
// copy and by kernel, and what came out is looked at by the peer itself.
#pragma once

#include <string>
#include <vector>

#include "hbf/sdk/log.hpp"
#include "plugins/amd/device_facts.hpp"
#include "plugins/stream/kernel_table.hpp"

namespace hbf::amd {

struct Peer {
    int ordinal = -1;
    std::string id;       // "gpu-0000:c2:00.0"
    std::string link;     // "xGMI, 1 hop"
    bool kernels = false; // stores and loads of kernels arrive, too
    std::string why;      // where not
    uint64_t free = 0;    // bytes of its memory
};

struct PeerCandidate {
    int ordinal;
    std::string id;
};

// Of `device`. Those that fail are left out, with a warning that says how. `kernels` may be nullptr.
std::vector<Peer> find_peers(const DeviceFacts &device, const std::vector<PeerCandidate> &others,
                             stream::KernelTable *kernels, const sdk::Log &log);

} // namespace hbf::amd
