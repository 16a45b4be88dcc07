// SPDX-License-Identifier: Apache-2.0
// What came after a block the last times: the last successor, which alone is right for most of a chain, and what else it
// takes to tell whether it will be again.
#pragma once

#include <cstdint>
#include <vector>

#include "core/engine/types.hpp"

namespace hbf::kv::prefetch {

// [one thread] 36 bytes a block; nothing allocates after the constructor.
class Successors {
public:
    struct Row {
        BlockId last = no_block, other = no_block; // the latest, and the latest different from it
        uint32_t last_count = 0, other_count = 0;  // how often each came, since it came into the row
        uint32_t total = 0;                        // accesses that had a successor
        uint16_t children = 0;                     // how often a new one came
        uint16_t streak = 0;                       // the last one in a row
        uint32_t when = 0;                         // of the clock
        uint32_t uses = 0;                         // accesses
    };

    explicit Successors(size_t blocks, size_t pairs = 1 << 16) : rows_(blocks), pairs_(pairs) {}

    void use(BlockId block) noexcept { ++rows_[block].uses; }
    void follow(BlockId before, BlockId from, BlockId to) noexcept; // before: ahead of `from`, or no_block
    const Row &row(BlockId block) const noexcept { return rows_[block]; }
    BlockId last(BlockId block) const noexcept { return block < rows_.size() ? rows_[block].last : no_block; }
    BlockId after(BlockId before, BlockId from) const noexcept; // of the pair; no_block
    void forget(BlockId block) noexcept { rows_[block] = Row{}; }
    size_t blocks() const noexcept { return rows_.size(); }
    uint32_t clock() const noexcept { return clock_; }
    size_t metadata_bytes() const noexcept { return rows_.size() * sizeof(Row) + pairs_.size() * sizeof(Pair); }

private:
    struct Pair {
        BlockId before = no_block, from = no_block, to = no_block;
    };
    size_t slot(BlockId before, BlockId from) const noexcept;

    std::vector<Row> rows_;
    std::vector<Pair> pairs_; // the latest of each slot
    uint32_t clock_ = 0;
};

} // namespace hbf::kv::prefetch
