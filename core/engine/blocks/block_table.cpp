// SPDX-License-Identifier: Apache-2.0
#include "core/engine/blocks/block_table.hpp"

#include <utility>

namespace hbf::kv {

BlockId BlockTable::take() {
    if (free_ == no_block) {
        if (chunk_count_ == most_chunks) return no_block;
        auto *const made = new BlockRecord[per_chunk];
        for (uint32_t i = per_chunk; i-- > 0;) made[i].same_as = std::exchange(free_, chunk_count_ * per_chunk + i);
        chunks_[chunk_count_].store(made, std::memory_order_release);
        ++chunk_count_;
    }
    const BlockId block = free_;
    BlockRecord &record = (*this)[block];
    free_ = record.same_as;
    record.lower = BlockPlace().word();
    record.identity = {};
    record.references = record.first = 0;
    record.same_as = no_block;
    record.tokens.store(0, std::memory_order_relaxed);
    record.lost.store(false, std::memory_order_relaxed);
    record.capacity = record.granules = record.layer = record.group = record.tenant = 0;
    record.sealed = record.indexed = record.moving = record.dead = false;
    record.used = true; // `place` keeps its generation: a number that is used again is not the block it was
    ++count_;
    return block;
}

void BlockTable::give_back(BlockId block) {
    (*this)[block].used = false;
    (*this)[block].same_as = std::exchange(free_, block);
    --count_;
}

} // namespace hbf::kv
