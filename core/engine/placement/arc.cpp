// SPDX-License-Identifier: Apache-2.0
#include "core/engine/placement/arc.hpp"

#include <algorithm>

namespace hbf::kv::placement {

Arc::Arc(size_t capacity, size_t blocks) : Listed(capacity, blocks, places), was_gone_(blocks) {}

void Arc::begin(Path path) {
    next_request();
    for (auto block = path.rbegin(); block != path.rend(); ++block) {
        const BlockId id = block->id;
        const auto gone_once_count = static_cast<double>(count(gone_once)),
                   gone_again_count = static_cast<double>(count(gone_again));
        use(id);
        if (where(id) == once || where(id) == again) move(id, again);
        if (where(id) == gone_once)
            wanted_once_ =
                std::min(static_cast<double>(capacity()), wanted_once_ + std::max(1.0, gone_again_count / gone_once_count));
        if (where(id) == gone_again)
            wanted_once_ = std::max(0.0, wanted_once_ - std::max(1.0, gone_once_count / gone_again_count));
    }
}

void Arc::admit(BlockId id, BlockId) {
    was_gone_[id] = where(id) == gone_once || where(id) == gone_again;
    move(id, coming);
}

bool Arc::free_to_go(Place list) const {
    const BlockId id = oldest(list);
    return id != no_block && !is_used_now(id);
}

BlockId Arc::victim(BlockId incoming) {
    const auto have = static_cast<double>(count(once));
    const bool of_once = have > wanted_once_ || (where(incoming) == gone_again && have == wanted_once_);
    Place from = of_once ? once : again;
    if (!free_to_go(from)) from = of_once ? again : once;
    if (!free_to_go(from)) return no_block;
    const BlockId id = oldest(from);
    move(id, from == once ? gone_once : gone_again);
    return id;
}

void Arc::end(Path path) {
    for (auto block = path.rbegin(); block != path.rend(); ++block) {
        if (where(block->id) == coming) move(block->id, was_gone_[block->id] != 0 ? again : once);
    }
    while (count(gone_once) > 0 && count(once) + count(gone_once) > capacity()) move(oldest(gone_once), nowhere);
    while (count(gone_again) > 0 && size() + count(gone_once) + count(gone_again) > 2 * capacity())
        move(oldest(gone_again), nowhere);
}

} // namespace hbf::kv::placement
