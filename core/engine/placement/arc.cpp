// SPDX-License-Identifier: Apache-2.0
#include "core/engine/placement/arc.hpp"

#include <algorithm>

namespace hbf::kv::placement {

Arc::Arc(size_t capacity, size_t blocks)
    : Policy(capacity), lists_(blocks, 6), where_(blocks), was_gone_(blocks), request_(blocks) {}

void Arc::move(BlockId id, Place to) {
    if (where_[id] != nowhere) {
        lists_->take_out(id);
        --count_[where_[id]];
    }
    where_[id] = to;
    ++count_[to];
    if (to != nowhere) lists_->push_back(to, id);
}

void Arc::begin(Path path) {
    ++now_;
    for (auto block = path.rbegin(); block != path.rend(); ++block) {
        const BlockId id = block->id;
        const auto gone_once_count = static_cast<double>(count_[gone_once]),
                   gone_again_count = static_cast<double>(count_[gone_again]);
        request_[id] = now_;
        if (where_[id] == once || where_[id] == again) move(id, again);
        if (where_[id] == gone_once)
            wanted_once_ =
                std::min(static_cast<double>(capacity()), wanted_once_ + std::max(1.0, gone_again_count / gone_once_count));
        if (where_[id] == gone_again)
            wanted_once_ = std::max(0.0, wanted_once_ - std::max(1.0, gone_once_count / gone_again_count));
    }
}

void Arc::admit(BlockId id, BlockId) {
    was_gone_[id] = where_[id] == gone_once || where_[id] == gone_again;
    move(id, coming);
}

bool Arc::free_to_go(Place list) const {
    const BlockId id = lists_->front(list);
    return id != no_block && request_[id] != now_;
}

BlockId Arc::victim(BlockId incoming) {
    const auto have = static_cast<double>(count_[once]);
    const bool of_once = have > wanted_once_ || (where_[incoming] == gone_again && have == wanted_once_);
    Place from = of_once ? once : again;
    if (!free_to_go(from)) from = of_once ? again : once;
    if (!free_to_go(from)) return no_block;
    const BlockId id = lists_->front(from);
    move(id, from == once ? gone_once : gone_again);
    return id;
}

void Arc::end(Path path) {
    for (auto block = path.rbegin(); block != path.rend(); ++block) {
        if (where_[block->id] == coming) move(block->id, was_gone_[block->id] != 0 ? again : once);
    }
    while (count_[gone_once] > 0 && count_[once] + count_[gone_once] > capacity()) move(lists_->front(gone_once), nowhere);
    while (count_[gone_again] > 0 && size() + count_[gone_once] + count_[gone_again] > 2 * capacity())
        move(lists_->front(gone_again), nowhere);
}

} // namespace hbf::kv::placement
