// SPDX-License-Identifier: Apache-2.0
// Other devices whose memory this one reaches, each tried before it is believed.
//
// What a driver says of peer access is a hint: behind an IOMMU, a switch with ACS, or a patched driver writes have been lost
// while the copy was reported as done. So a pattern goes there and back, over a canary, by the copy engine and by a kernel,
// and what arrived is read by the other device itself.
#pragma once

#include <string>
#include <vector>

#include "hbf/sdk/log.hpp"
#include "plugins/nvidia/context.hpp"
#include "plugins/stream/kernel_table.hpp"

namespace hbf::nvidia {

struct Peer {
    cuda::Device device = 0;
    uint64_t memory = 0;
    bool kernels = false; // stores and loads of kernels arrive too
    std::string detail;   // for people: whose memory, and what was tried
};

struct Verdict {
    bool copies = false, kernels = false;
    bool stuck = false; // what was tried runs still
    std::string why;    // of what is not
};

// Tries one. `loader` may be nullptr: then kernels are not tried. Does not throw; blocks for at most some seconds.
Verdict try_peer(Context &own, Context &peer, stream::KernelLoader *loader) noexcept;

// All that can be used; the others are said in the log, with the reason. What was found of a pair stays true for the life of
// the process.
std::vector<Peer> find_peers(Context &own, stream::KernelLoader *loader, const sdk::Log &log);

} // namespace hbf::nvidia
