// SPDX-License-Identifier: Apache-2.0
// Memory of a device, and pinned memory of the host, each taken and given back as a whole.
#pragma once

#include <memory>
#include <optional>

#include "plugins/nvidia/memory/host_ranges.hpp"

namespace hbf::nvidia {

// Memory of `home`, mapped for `user` too, which may be another device: addresses are reserved and physical memory is mapped
// at them, so that a peer gets this allocation and not all of the device's.
class MappedBlock {
public:
    MappedBlock(const Context &user, cuda::Device home, uint64_t bytes, uint64_t alignment); // bytes: whole granules. Throws
    ~MappedBlock();
    MappedBlock(const MappedBlock &) = delete;
    MappedBlock &operator=(const MappedBlock &) = delete;
    uint64_t at() const { return at_; }

    static uint64_t granularity(const Context &user, cuda::Device home); // throws

private:
    void end() noexcept;
    const Context &user_;
    const uint64_t bytes_;
    cuda::Pointer at_ = 0;
    cuda::Handle handle_ = 0;
    bool created_ = false, mapped_ = false;
};

// The same of the device itself, for drivers or devices without virtual memory management.
class PlainBlock {
public:
    PlainBlock(const Context &context, uint64_t bytes, uint64_t alignment); // throws
    ~PlainBlock();
    PlainBlock(const PlainBlock &) = delete;
    PlainBlock &operator=(const PlainBlock &) = delete;
    uint64_t at() const { return aligned_; }

private:
    const Context &context_;
    cuda::Pointer at_ = 0;
    uint64_t aligned_ = 0;
};

// Memory of the host that the device reads and writes where it is. Shared with children, so that a fork does not take pages
// away from under the device.
class PinnedBlock {
public:
    // `node`: where it should lie, -1 for anywhere. Throws.
    PinnedBlock(const Context &context, uint64_t bytes, uint64_t alignment, int node);
    ~PinnedBlock();
    PinnedBlock(const PinnedBlock &) = delete;
    PinnedBlock &operator=(const PinnedBlock &) = delete;
    std::byte *host() const { return host_; }
    uint64_t at() const { return range_->on_device(); }

private:
    void *map_ = nullptr;
    uint64_t map_size_ = 0;
    std::byte *host_ = nullptr;
    std::optional<HostRange> range_;
};

// Whether memory can be asked to lie on that node: "" or why not.
std::string node_trouble(int node);

} // namespace hbf::nvidia
