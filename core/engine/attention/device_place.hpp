// SPDX-License-Identifier: Apache-2.0
// Blocks in memory of a device that has a kernel for attention: attended there, and only m, l and o come out of it. Two
// windows of blocks are under way at a time, so that the device works while this thread puts results together.
//
// What goes there and comes back is held against what was meant: query and table are copied back before the kernel runs, and
// results come twice, into memory that was filled with different bytes. What differs is DATA_LOSS. That the kernel itself
// computes right is taken for granted.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <vector>

#include "core/engine/attention/host_memory.hpp"
#include "core/engine/attention/place.hpp"
#include "hbf/device.hpp"

namespace hbf::kv {

struct DevicePlaceOptions {
    uint32_t window = 64;                  // blocks, the most in a launch
    uint64_t scratch = 4 << 20;            // bytes of device memory for the results of a launch
    uint32_t groups = 64, group_size = 64; // of a launch, at most
    // Of a launch, and of the wait for what is abandoned. Whoever never completes is left with queue and memory.
    std::chrono::nanoseconds deadline = std::chrono::nanoseconds::max();
};

struct DeviceWork {
    uint64_t blocks = 0, launches = 0;
    uint64_t kv_bytes = 0;                // of the blocks
    uint64_t bytes_in = 0, bytes_out = 0; // tables and queries; results
    uint64_t bytes_again = 0;             // of both, to see that they arrived
};

class DevicePlace final : public AttendPlace {
public:
    // Blocks lie in `kv`, of memory that the device's processors reach; it stays the caller's and must outlive this.
    // Code::unsupported: the device has no kernel "attention/1", or its processors do not reach the region.
    static Result<std::unique_ptr<DevicePlace>> open(const Device &device, Region kv,
                                                     const DevicePlaceOptions &options = {});
    // Another region of the same tier, in which blocks lie as well: what to add to the offset of a block in it. It must be
    // there while blocks in it are named, no longer. Code::unsupported: the processors do not reach it.
    Result<uint64_t> add(Region kv);
    ~DevicePlace() override;
    DevicePlace(const DevicePlace &) = delete;
    DevicePlace &operator=(const DevicePlace &) = delete;

    Result<> begin(const kv_shape &shape, const float *query, std::span<const kv_block> blocks) override;
    Result<> next(uint32_t count, float *state, float *output) override;
    void abandon() noexcept override;

    const DeviceWork &work() const noexcept { return work_; }

private:
    // Where the parts of a buffer begin, on the device as in the host's memory; two windows have a table and results each.
    // Beyond `size`, in the host's memory only: both once more, as they came back.
    struct Parts {
        uint64_t query, table[2], results[2], size, sent[2], again[2], size_of_host;
    };
    struct Window {
        uint64_t value = 0; // of the queue
        uint32_t blocks = 0;
    };

    struct Memory {
        Region region;
        uint64_t size;
    };
    static constexpr uint32_t region_shift = 44; // of an offset: what is above is the region's number

    DevicePlace(Device device, const DevicePlaceOptions &options);
    Result<> check(const kv_shape &shape, std::span<const kv_block> blocks) const;
    Result<> take_memory();
    Result<> send_query(const kv_shape &shape, const float *query, std::span<const kv_block> blocks);
    Result<> take_results(uint32_t count, float *state, float *output);
    Result<> launch(uint32_t slot);
    bool arrived_right(uint32_t slot) const;
    Result<> launch_ahead();
    uint64_t results_of_block() const; // bytes

    Device device_;
    std::vector<Memory> kv_;
    uint32_t tier_ = 0;
    DevicePlaceOptions options_;
    Kernel kernel_;
    Parts parts_{};
    RegionInfo on_device_, on_host_;
    HostMemory memory_; // of on_host_, where it is registered
    Queue queue_;
    Batch batch_;

    kv_shape shape_{};
    std::span<const kv_block> blocks_; // not launched yet
    uint32_t in_window_ = 0;           // blocks a launch takes
    std::array<Window, 2> windows_;
    uint32_t first_ = 0, used_ = 0; // windows under way
    uint32_t taken_ = 0;            // blocks of the first that have been handed out
    bool arrived_ = false;          // the first
    bool stuck_ = false;            // something was not done by its deadline
    DeviceWork work_;
};

} // namespace hbf::kv
