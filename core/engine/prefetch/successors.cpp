// SPDX-License-Identifier: Apache-2.0
#include "core/engine/prefetch/successors.hpp"

#include <limits>
#include <utility>

namespace hbf::kv::prefetch {

size_t Successors::slot(BlockId before, BlockId from) const noexcept {
    const uint64_t both = (uint64_t{before} << 32 | from) * 0x9e3779b97f4a7c15u;
    return static_cast<size_t>(both >> 32) % pairs_.size();
}

void Successors::follow(BlockId before, BlockId from, BlockId to) noexcept {
    Row &row = rows_[from];
    ++clock_;
    ++row.total;
    row.when = clock_;
    if (row.last == to) {
        ++row.last_count;
        if (row.streak < std::numeric_limits<uint16_t>::max()) ++row.streak;
    } else {
        const bool known = row.other == to;
        if (!known) {
            row.other_count = 0;
            if (row.children < std::numeric_limits<uint16_t>::max()) ++row.children;
        }
        const uint32_t count = known ? row.other_count + 1 : 1;
        row.other = std::exchange(row.last, to);
        row.other_count = std::exchange(row.last_count, count);
        row.streak = 1;
    }
    if (before != no_block) pairs_[slot(before, from)] = {before, from, to};
}

BlockId Successors::after(BlockId before, BlockId from) const noexcept {
    const Pair &pair = pairs_[slot(before, from)];
    return pair.before == before && pair.from == from ? pair.to : no_block;
}

} // namespace hbf::kv::prefetch
