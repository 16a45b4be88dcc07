// SPDX-License-Identifier: Apache-2.0
// Which tiers a device has, and how large each may grow.
//
// HBF is composed of what the machine really has, best first: CXL memory of the host, memory of peers, pinned memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hbf/abi/coherence.h"
#include "hbf/abi/tier.h"
#include "plugins/amd/memory/host_memory.hpp"
#include "plugins/amd/memory/peers.hpp"
#include "plugins/amd/options.hpp"

namespace hbf::amd {

enum class Sort : uint8_t { hbm, cxl, peer, host };

struct Tier {
    Sort sort;
    std::string name;
    hbf_tier_kind kind;
    hbf_media media;
    uint32_t domain = HBF_DOMAIN_NONE;
    CoherenceClass coherence;
    int owner = -1;     // the device whose memory it is; of a NUMA node: -1
    int node = -1;      // NUMA
    bool placed = true; // pages are bound to `node`
    bool kernels = true;
    uint64_t capacity = 0;
    std::string detail = {};
    bool degraded = false;

    bool cpu() const { return sort == Sort::cxl || sort == Sort::host; }
};

inline constexpr uint32_t host_domain = 0, cxl_domain = 1;

struct Means { // what there is
    const DeviceFacts &device;
    int numa_node = -1; // of the device
    uint64_t free = 0;  // bytes of its memory
    HostMemory host;
    std::vector<Peer> peers;
    uint64_t devices = 1; // that share the host's memory
};

// Throws INVALID where an option asks for what there is not.
std::vector<Tier> plan_tiers(const Means &means, const AmdOptions &options);

} // namespace hbf::amd
