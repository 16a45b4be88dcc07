// SPDX-License-Identifier: Apache-2.0
// Aligned buffers of a channel, for what O_DIRECT does not take from the user's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <sys/mman.h>

#include "hbf/sdk/failure.hpp"

namespace hbf::host {

class BouncePool {
public:
    static constexpr uint32_t none = UINT32_MAX;

    BouncePool(uint32_t count, uint32_t size) : count_(count), size_(size) {
        void *memory = ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) sdk::fail(HBF_EXHAUSTED, "no memory for the storage tier's aligned buffers");
        memory_ = static_cast<std::byte *>(memory);
        for (uint32_t i = 0; i < count; ++i) free_.push_back(i);
    }
    ~BouncePool() { ::munmap(memory_, bytes()); }
    BouncePool(const BouncePool &) = delete;
    BouncePool &operator=(const BouncePool &) = delete;

    std::byte *memory() const { return memory_; }
    uint64_t bytes() const { return uint64_t{count_} * size_; }
    std::byte *at(uint32_t index) const { return memory_ + uint64_t{index} * size_; }

    uint32_t take() { // none: all are in use
        if (free_.empty()) return none;
        uint32_t index = free_.back();
        free_.pop_back();
        return index;
    }
    void give(uint32_t index) { free_.push_back(index); }

private:
    uint32_t count_, size_;
    std::byte *memory_ = nullptr; // page-aligned
    std::vector<uint32_t> free_;
};

} // namespace hbf::host
