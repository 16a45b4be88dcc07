// SPDX-License-Identifier: Apache-2.0
// A memory tier on one NUMA node, or on the machine's memory as a whole.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "memory/budget.hpp"
#include "memory/memory_tier.hpp"
#include "memory/page_kind.hpp"
#include "memory/smaps.hpp"

namespace hbf::host {

struct NodeTierFacts {
    std::string name, detail;
    hbf_tier_kind kind = HBF_TIER_HBM;
    hbf_media media = HBF_MEDIA_DRAM;
    int node = -1;
    int room_node = -1; // whose free memory counts beside the machine's; -1: the machine has one node only
    bool bind = false;  // pages are bound to the node, and looked up
    bool degraded = false;
    std::string unusable;                   // why no region can be had here, "" if one can
    std::vector<int> cpus;                  // where first touch runs best
    uint64_t capacity = 0, reserve = 0;     // bytes; `reserve` stays free on the machine whatever is asked for
    uint64_t bandwidth = 0, latency_ns = 0; // firmware's figures, 0 unknown
    uint32_t line_size = 64;
    const char *option = "dram_bytes"; // which option sets the capacity
    std::filesystem::path root;
};

class NodeTier final : public MemoryTier {
public:
    explicit NodeTier(NodeTierFacts facts) : facts_(std::move(facts)), budget_(facts_.capacity) {}

    void describe(hbf_tier_info &out) const override;
    Mapping alloc(uint64_t size, uint64_t alignment, hbf_pages pages) override;
    void free(const Mapping &mapping) noexcept override;

private:
    uint64_t body_size(uint64_t size, const PageKind &kind) const;
    void check_room(uint64_t body, uint64_t others);
    void fill(std::byte *address, uint64_t size, const PageKind &kind) const;
    uint64_t verified_page_size(std::byte *address, uint64_t size, const PageKind &kind) const;
    void check_place(std::byte *address, uint64_t size) const;

    NodeTierFacts facts_;
    Budget budget_;
    std::mutex credit_mutex_;
    uint64_t credit_ = 0; // bytes that may be taken without another look at the machine, for a moment
    std::chrono::steady_clock::time_point credit_ends_{};
};

} // namespace hbf::host
