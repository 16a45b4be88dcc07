// SPDX-License-Identifier: Apache-2.0
// The device: one memory tier and its regions. Here it is ordinary memory of this process; put your device's calls where
// memory is made and given back.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "hbf/sdk/instance.hpp"
#include "hbf/sdk/region_table.hpp"

namespace plugin {

inline constexpr uint64_t granule = 64 * 1024; // sizes are rounded up to this, and every region starts at a multiple of it

// What stands behind a region's handle.
struct Block {
    std::unique_ptr<std::byte[]> memory; // more than size, to be aligned
    std::byte *address = nullptr;
    uint64_t size = 0, taken = 0; // bytes asked for, and of the tier's capacity
};
using Regions = hbf::sdk::RegionTable<Block>;

class Memory final : public hbf::sdk::Instance {
public:
    explicit Memory(uint64_t capacity) : capacity_(capacity) {}

    uint32_t tier_count() const override { return 1; }
    void describe_tier(uint32_t tier, hbf_tier_info &out) override;
    hbf_region_info alloc(const hbf::sdk::AllocRequest &request) override;
    void free(hbf_region region) override;

    hbf_queue_info queue_info() const override;
    std::unique_ptr<hbf::sdk::Queue> create_queue(const hbf::sdk::QueueRequest &request) override;

private:
    void take(uint64_t bytes); // of the capacity, or throws

    const uint64_t capacity_;
    std::atomic<uint64_t> used_{0};
    Regions regions_;
};

} // namespace plugin
