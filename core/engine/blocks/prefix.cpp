// SPDX-License-Identifier: Apache-2.0
// Blocks that somebody else filled, found by what they are.
#include "core/engine/blocks/cache_core.hpp"

namespace hbf::kv {

BlockId CacheCore::find(const Identity &identity, const BlockShape &as) {
    BlockId block = no_block;
    {
        const std::lock_guard lock(mutex_);
        block = find_identity(identity);
        if (block != no_block) ++table_[block].references;
    }
    if (block == no_block) block = take_over(identity, as);
    return block;
}

uint16_t CacheCore::tenant_number(std::string_view tenant) {
    if (tenant.empty()) return 0;
    const std::lock_guard lock(mutex_);
    if (const auto found = tenants_.find(std::string(tenant)); found != tenants_.end()) return found->second;
    if (tenants_.size() + 1 >= too_many_tenants) return too_many_tenants;
    return tenants_.emplace(tenant, static_cast<uint16_t>(tenants_.size() + 1)).first->second;
}

std::vector<std::string> CacheCore::notes() const {
    return logs_ ? logs_->notes() : std::vector<std::string>();
}

std::vector<uint32_t> CacheCore::sizes_of(uint32_t lane) const {
    const std::lock_guard lock(mutex_);
    std::vector<uint32_t> sizes;
    for (uint32_t i = 16; i-- > 0;)
        if ((sizes_[lane].seen >> i & 1) != 0) sizes.push_back(16 * (i + 1));
    return sizes;
}

} // namespace hbf::kv
