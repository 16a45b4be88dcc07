// SPDX-License-Identifier: Apache-2.0
// Blocks in a region of the fabric that the CPU does not reach, or had better not read: a storage tier, memory of a device
// without a kernel for attention, a simulated link. Fetched by the copies of the region's device.
#pragma once

#include <memory>
#include <vector>

#include "core/engine/attention/block_source.hpp"
#include "hbf/device.hpp"

namespace hbf::kv {

class RegionSource final : public BlockSource {
public:
    // The region stays the caller's and must outlive this. `integrity` as of Batch::copy: with next_read every granule whose
    // checksum was recorded when it was written is compared on its way, and then blocks lie at granule bounds.
    static Result<std::unique_ptr<RegionSource>> open(const Device &device, Region region,
                                                      Integrity integrity = Integrity::none);
    ~RegionSource() override;
    RegionSource(const RegionSource &) = delete;
    RegionSource &operator=(const RegionSource &) = delete;

    uint64_t size() const noexcept override { return size_; }
    Result<> attach(std::span<std::byte> memory) override;
    Result<uint64_t> start(std::span<const Fetch> fetches) override;
    Result<> wait(uint64_t ticket) override;
    void discard(uint64_t ticket) noexcept override;

private:
    RegionSource(Device device, Region region, uint64_t size, Integrity integrity)
        : device_(std::move(device)), region_(region), size_(size), integrity_(integrity) {}
    Result<> fresh_queue();

    Device device_;
    Region region_;
    uint64_t size_;
    Integrity integrity_;
    Region memory_;
    Queue queue_;
    Batch batch_;
    std::vector<Fetch> merged_;
};

} // namespace hbf::kv
