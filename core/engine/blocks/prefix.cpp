// SPDX-License-Identifier: Apache-2.0
// Blocks that somebody else filled, found by what they are.
#include "core/engine/blocks/cache_core.hpp"

namespace hbf::kv {

BlockId CacheCore::find(const Identity &identity) {
    const std::lock_guard lock(mutex_);
    const BlockId block = find_identity(identity);
    if (block == no_block) return no_block;
    ++table_[block].references;
    return block;
}

std::vector<uint32_t> CacheCore::sizes_of(uint32_t lane) const {
    const std::lock_guard lock(mutex_);
    std::vector<uint32_t> sizes;
    for (uint32_t i = 16; i-- > 0;)
        if ((sizes_[lane].seen >> i & 1) != 0) sizes.push_back(16 * (i + 1));
    return sizes;
}

} // namespace hbf::kv
