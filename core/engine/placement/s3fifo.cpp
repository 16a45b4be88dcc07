// SPDX-License-Identifier: Apache-2.0
#include "core/engine/placement/s3fifo.hpp"

#include <algorithm>

namespace hbf::kv::placement {

S3Fifo::S3Fifo(size_t capacity, size_t blocks)
    : Listed(capacity, blocks, places), uses_(blocks), was_ghost_(blocks), small_most_(std::max<size_t>(1, capacity / 10)) {}

void S3Fifo::begin(Path path) {
    next_request();
    for (const auto &[id, tokens] : path) {
        use(id);
        if (holds(id)) uses_[id] = static_cast<uint8_t>(std::min(3, uses_[id] + 1));
    }
}

void S3Fifo::admit(BlockId id, BlockId) {
    was_ghost_[id] = where(id) == ghost;
    uses_[id] = 0;
    move(id, coming);
}

BlockId S3Fifo::victim(BlockId) {
    for (size_t tries = 0; tries < 4 * size() + 4; ++tries) {
        const bool from_small = count(small) >= small_most_ || count(main) == 0;
        const BlockId id = oldest(from_small ? small : main);
        if (id == no_block) return no_block;
        if (is_used_now(id)) {
            move(id, from_small && uses_[id] > 1 ? main : from_small ? small : main);
        } else if (from_small && uses_[id] > 1) {
            uses_[id] = 0;
            move(id, main);
        } else if (from_small) {
            move(id, ghost);
            if (count(ghost) > capacity() - std::min(capacity(), small_most_)) move(oldest(ghost), nowhere);
            return id;
        } else if (uses_[id] > 0) {
            --uses_[id];
            move(id, main);
        } else {
            move(id, nowhere);
            return id;
        }
    }
    return no_block;
}

void S3Fifo::end(Path path) {
    for (auto block = path.rbegin(); block != path.rend(); ++block) {
        if (where(block->id) == coming) move(block->id, was_ghost_[block->id] != 0 ? main : small);
    }
}

} // namespace hbf::kv::placement
