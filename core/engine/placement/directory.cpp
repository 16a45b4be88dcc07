// SPDX-License-Identifier: Apache-2.0
#include "core/engine/placement/directory.hpp"

#include <algorithm>
#include <bit>

namespace hbf::kv::placement {

// At most 3/4 full.
Directory::Directory(size_t most)
    : slots_(std::bit_ceil(std::max<size_t>(8, most + most / 3 + 1)), {0, no_block}), mask_(slots_.size() - 1), most_(most),
      shift_(64 - std::countr_zero(slots_.size())) {}

bool Directory::insert(uint64_t fingerprint, BlockId id) {
    if (size_ == most_) return false;
    size_t at = home(fingerprint);
    while (slots_[at].id != no_block) at = (at + 1) & mask_;
    slots_[at] = {fingerprint, id};
    ++size_;
    return true;
}

void Directory::erase(uint64_t fingerprint) {
    size_t hole = home(fingerprint);
    while (slots_[hole].id != no_block && slots_[hole].fingerprint != fingerprint) hole = (hole + 1) & mask_;
    if (slots_[hole].id == no_block) return;
    // Those behind it move up, as far as each still stands at or after its home.
    for (size_t at = (hole + 1) & mask_; slots_[at].id != no_block; at = (at + 1) & mask_) {
        const size_t from_home = (at - home(slots_[at].fingerprint)) & mask_, from_hole = (at - hole) & mask_;
        if (from_home < from_hole) continue;
        slots_[hole] = slots_[at];
        hole = at;
    }
    slots_[hole].id = no_block;
    --size_;
}

} // namespace hbf::kv::placement
