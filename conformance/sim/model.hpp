// SPDX-License-Identifier: Apache-2.0
// The machine that is simulated, as data: its tiers and coherence domains, and the limits of its queues.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/sim/options.hpp"
#include "hbf/abi/coherence.h"
#include "hbf/abi/queue.h"
#include "hbf/abi/tier.h"

namespace hbf::sim {

struct DomainModel {
    const char *name;
    hbf_protocol protocol;
    uint64_t line; // bytes: unit of flush and invalidate
    uint32_t agents, atomic_widths;
    const char *detail;
};

struct TierModel {
    const char *name;
    hbf_tier_kind kind;
    hbf_media media;
    uint32_t access; // HBF_ACCESS_*
    uint32_t domain; // index, or HBF_DOMAIN_NONE
    uint32_t extended_by;
    uint64_t capacity, granule, most_alignment;
    bool named; // keeps named regions
    const char *detail;

    bool cpu() const { return access & HBF_ACCESS_CPU; }
};

struct Model {
    std::vector<DomainModel> domains;
    std::vector<TierModel> tiers;
    hbf_queue_info queues;
    uint32_t default_depth;
};

Model small_model(const SimOptions &options);

} // namespace hbf::sim
