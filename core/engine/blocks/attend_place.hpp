// SPDX-License-Identifier: Apache-2.0
// The blocks of one lane that this thread attends: where the CPU sees them they are read in place, one after the other;
// those that it does not see are fetched alone, verified, and from a copy below where the first is wrong (reading.cpp).
#pragma once

#include <vector>

#include "core/engine/attention/place.hpp"
#include "core/engine/blocks/cache_core.hpp"

namespace hbf::kv {

class LanePlace final : public AttendPlace {
public:
    struct Entry {
        BlockId block = no_block;
        const std::byte *address = nullptr; // nullptr: has to be fetched
        uint32_t capacity = 0;              // tokens it has room for; entries need not be alike
        Tier tier = Tier::hbm;
    };
    // Offset of an entry: its number. Its KV heads stand below, each as large as the shape that begin() is given says, whose
    // `block_tokens` are those of no entry in particular.
    static constexpr uint64_t offset_of(size_t entry) { return uint64_t{entry} << 32; }

    explicit LanePlace(CacheCore &cache) : cache_(cache) {}

    // For the calls to come, all inside one epoch of this worker's reader.
    void use(Worker &worker, std::span<const Entry> entries) { worker_ = &worker, entries_ = entries; }

    Result<> begin(const kv_shape &shape, const float *query, std::span<const kv_block> blocks) override;
    Result<> next(uint32_t count, float *state, float *output) override;
    void abandon() noexcept override { blocks_ = {}; }

    uint64_t attended(Tier tier) const { return attended_[static_cast<size_t>(tier)]; } // bytes, ever
    uint64_t fetched() const { return fetched_; }                                       // blocks, ever

private:
    const Entry &entry(const kv_block &block) const { return entries_[block.offset >> 32]; }
    kv_shape shape_of(const Entry &entry) const;
    uint64_t within(const kv_block &block, const kv_shape &shape) const; // bytes from the block's first

    CacheCore &cache_;
    Worker *worker_ = nullptr;
    std::span<const Entry> entries_;
    kv_shape shape_{};
    const float *query_ = nullptr;
    std::span<const kv_block> blocks_;
    std::vector<kv_block> run_;
    uint64_t attended_[tier_count] = {}, fetched_ = 0;
};

} // namespace hbf::kv
