// SPDX-License-Identifier: Apache-2.0
#include "core/engine/blocks/block_table.hpp"

namespace hbf::kv {

BlockId BlockTable::take() {
    if (free_.empty()) {
        if (chunk_count_ == most_chunks) return no_block;
        free_.reserve((uint64_t{chunk_count_} + 1) * per_chunk); // so that giving back never fails
        chunks_[chunk_count_].store(new BlockRecord[per_chunk], std::memory_order_release);
        for (uint32_t i = per_chunk; i-- > 0;) free_.push_back(chunk_count_ * per_chunk + i);
        ++chunk_count_;
    }
    const BlockId block = free_.back();
    free_.pop_back();
    BlockRecord &record = (*this)[block];
    record.lower = BlockPlace().word();
    record.identity = {};
    record.last_use.store(0, std::memory_order_relaxed);
    record.references = record.first = 0;
    record.same_as = no_block;
    record.tokens.store(0, std::memory_order_relaxed);
    record.lost.store(false, std::memory_order_relaxed);
    record.capacity = record.granules = record.layer = record.group = 0;
    record.sealed = record.indexed = record.moving = record.dead = false;
    record.used = true; // `place` keeps its generation: a number that is used again is not the block it was
    ++count_;
    return block;
}

void BlockTable::give_back(BlockId block) {
    (*this)[block].used = false;
    free_.push_back(block);
    --count_;
}

} // namespace hbf::kv
