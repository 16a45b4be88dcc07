// SPDX-License-Identifier: Apache-2.0
#include "core/engine/placement/lru.hpp"

namespace hbf::kv::placement {

Lru::Lru(size_t capacity, size_t blocks) : Policy(capacity), list_(blocks, 1), held_(blocks), request_(blocks) {}

void Lru::begin(Path path) {
    ++now_;
    for (const auto &[id, tokens] : path) request_[id] = now_;
    refresh(path);
}

void Lru::admit(BlockId id, BlockId) {
    held_[id] = 1;
    ++size_;
    list_->push_back(0, id);
}

BlockId Lru::victim(BlockId) {
    const BlockId id = list_->front(0);
    if (id == no_block || request_[id] == now_) return no_block;
    list_->take_out(id);
    held_[id] = 0;
    --size_;
    return id;
}

// The deepest first, so that the head is the latest.
void Lru::refresh(Path path) {
    for (auto block = path.rbegin(); block != path.rend(); ++block) {
        if (held_[block->id] == 0) continue;
        list_->take_out(block->id);
        list_->push_back(0, block->id);
    }
}

} // namespace hbf::kv::placement
