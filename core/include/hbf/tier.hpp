// SPDX-License-Identifier: Apache-2.0
// Facts about a tier and a coherence domain, as a plugin declared them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hbf/abi/coherence.h"
#include "hbf/abi/tier.h"

namespace hbf {

enum class TierKind : uint32_t { hbm = HBF_TIER_HBM, hbf = HBF_TIER_HBF, cold = HBF_TIER_COLD };

struct TierInfo {
    uint32_t index = 0;
    TierKind kind = TierKind::hbm;
    uint32_t media = HBF_MEDIA_UNKNOWN;
    bool emulated = false;
    bool cpu_access = false, device_access = false, dma_access = false;
    bool persistent = false, numa_bound = false, degraded = false;
    int numa_node = -1;
    std::optional<uint32_t> domain;      // coherence domain index
    std::optional<uint32_t> extended_by; // tier index
    uint32_t line_size = 0;
    uint64_t capacity = 0, available = 0, granule = 0, alignment = 0, copy_alignment = 0; // bytes
    uint64_t nominal_bandwidth = 0;                                                       // bytes/s, 0 unknown
    uint64_t nominal_latency_ns = 0;                                                      // 0 unknown
    std::string name, detail;
};

struct DomainInfo {
    bool hardware = false; // else explicit flush and invalidate, inserted by the fabric
    uint64_t granule = 0;
    uint32_t agents = 0, atomic_widths = 0;
    std::string name, detail;
};

} // namespace hbf
