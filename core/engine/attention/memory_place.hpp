// SPDX-License-Identifier: Apache-2.0
// Blocks in memory that the CPU reads: attended where they lie, by this thread.
#pragma once

#include "core/engine/attention/place.hpp"

namespace hbf::kv {

class MemoryPlace final : public AttendPlace {
public:
    // The memory stays the caller's. `base` at a multiple of 8, of 64 is faster.
    MemoryPlace(const void *base, uint64_t size) noexcept : base_(static_cast<const uint8_t *>(base)), size_(size) {}

    Result<> begin(const kv_shape &shape, const float *query, std::span<const kv_block> blocks) override;
    Result<> next(uint32_t count, float *state, float *output) override;
    void abandon() noexcept override { blocks_ = {}; }

private:
    const uint8_t *base_;
    uint64_t size_;
    kv_shape shape_{};
    const float *query_ = nullptr;
    std::span<const kv_block> blocks_;
};

} // namespace hbf::kv
