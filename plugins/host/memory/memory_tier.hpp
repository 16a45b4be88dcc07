// SPDX-License-Identifier: Apache-2.0
// Memory tiers of a host: one per NUMA node with CPUs, and HBF from CPU-less (CXL) nodes or else from a budgeted DRAM pool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hbf/abi/tier.h"
#include "hbf/sdk/log.hpp"

namespace hbf::host {

struct MemoryOptions {
    std::string system_root = "/";
    uint64_t dram_bytes = 0; // capacity of the HBM-kind tiers together, 0: what is available less a reserve
    uint64_t hbf_bytes = 0;  // budget of the DRAM pool that stands in for far memory, 0: a quarter of available
};

struct Mapping {
    std::byte *address = nullptr;
    uint64_t mapped = 0;    // bytes to give back
    uint64_t page_size = 0; // bytes, as the kernel says (smaps, move_pages); the smallest if mixed
};

class MemoryTier {
public:
    virtual ~MemoryTier() = default;
    virtual void describe(hbf_tier_info &out) const = 0; // extended_by and coherence_domain are the instance's to set
    // Touched, on the right node (verified), never the zero page. Throws sdk::Failure: EXHAUSTED, UNAVAILABLE.
    virtual Mapping alloc(uint64_t size, uint64_t alignment, hbf_pages pages) = 0;
    virtual void free(const Mapping &mapping) noexcept = 0;
};

// The tiers of the machine below options.system_root, HBM kinds first.
std::vector<std::unique_ptr<MemoryTier>> discover_memory_tiers(const MemoryOptions &options, const sdk::Log &log);

} // namespace hbf::host
