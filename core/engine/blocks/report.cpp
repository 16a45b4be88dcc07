// SPDX-License-Identifier: Apache-2.0
// What is known, for people and programs.
#include <fmt/format.h>

#include "core/engine/blocks/cache_core.hpp"

namespace hbf::kv {

Result<BlockInfo> CacheCore::explain(BlockId block) const {
    const std::lock_guard lock(mutex_);
    heat_->expire();
    heat_->drain(table_);
    const BlockRecord *const record = table_.find(block);
    if (record == nullptr) return fail(Code::invalid, fmt::format("there is no block {}", block));
    const BlockRecord &holder = record->same_as == no_block ? *record : table_[record->same_as];
    const BlockPlace place = place_of(holder);
    BlockInfo info;
    info.block = block;
    info.identity = record->identity;
    info.layer = record->layer;
    info.group = record->group;
    info.tokens = record->tokens.load(std::memory_order_relaxed);
    info.capacity = record->capacity;
    info.references = record->references;
    info.same_as = record->same_as;
    info.tier = place.tier();
    info.lower_copy = BlockPlace(holder.lower).somewhere();
    info.moving = holder.moving;
    info.lost = holder.lost.load();
    info.bytes = copied_bytes(holder);
    info.generation = place.generation();
    const BlockId with_bytes = record->same_as == no_block ? block : record->same_as;
    const placement::Scheduler &scheduler = heat_->scheduler();
    const auto decision = scheduler.decide(with_bytes);
    const auto facts = scheduler.facts(with_bytes);
    info.score = decision.score;
    info.target = decision.to;
    info.uses = facts.uses;
    info.relevance = facts.relevance / 255.0;
    info.pinned = facts.pinned;
    info.placement = scheduler.explain(with_bytes);
    return info;
}

CacheStats CacheCore::stats() const {
    uint32_t logs = 0; // not under the lock
    const cold::LogStats cold = logs_ ? logs_->stats(logs) : cold::LogStats();
    const std::lock_guard lock(mutex_);
    heat_->expire();
    heat_->drain(table_);
    CacheStats stats = counts_;
    stats.log.logs = logs;
    stats.log.granules = cold.granules;
    stats.log.used_bytes = cold.used_bytes;
    stats.log.held_bytes = logs_ ? logs_->held() : 0;
    stats.log.commits = cold.commits;
    stats.log.read_bytes = cold.read_bytes;
    stats.log.evicted_granules = cold.evicted;
    stats.log.moved_granules = cold.moved;
    stats.log.damaged_granules = cold.lost;
    stats.log.refused_growths = cold.refused_growths;
    if (logs_) {
        stats.tiers[static_cast<size_t>(Tier::cold)].budget = logs_->bytes();
        stats.tiers[static_cast<size_t>(Tier::cold)].used = cold.used_bytes;
    }
    stats.shown = page_ != nullptr;
    stats.prefetched_useful = heat_->ahead().bytes().useful;
    stats.prefetched_wasted = heat_->ahead().bytes().wasted;
    stats.prefetched_late = heat_->ahead().bytes().late;
    stats.accesses_dropped = heat_->dropped();
    stats.pinned = heat_->scheduler().pinned();
    stats.blocks = table_.size();
    uint64_t pools = 0;
    for (uint32_t i = 0; i < tier_count; ++i) {
        if (!pools_[i]) continue;
        TierPool &mine = *pools_[i];
        mine.collect(epochs_);
        TierStats &tier = stats.tiers[i];
        tier.budget = mine.budget() * granule_size;
        tier.used = mine.used() * granule_size;
        tier.waiting = mine.waiting() * granule_size;
        tier.fragmentation = mine.fragmentation(longest_granules());
        pools += mine.metadata_bytes();
    }
    for (uint64_t block = 0; block < table_.end(); ++block) {
        const BlockRecord &record = table_[static_cast<BlockId>(block)];
        if (!record.used || record.same_as != no_block) continue;
        ++stats.tiers[static_cast<size_t>(place_of(record).tier())].blocks;
        if (const BlockPlace lower(record.lower); lower.somewhere())
            ++stats.tiers[static_cast<size_t>(lower.tier())].lower_copies;
    }
    const auto background = transfers_->counts();
    stats.expired_transfers += background.expired;
    stats.cancelled_transfers += background.cancelled;
    stats.metadata_bytes = table_.metadata_bytes() + by_identity_.metadata_bytes() + by_content_.metadata_bytes() + pools +
                           sizes_.size() * (sizeof(LaneSize) + sizeof(Identity)) + heat_->metadata_bytes();
    stats.index_bytes = index_bytes_.load(std::memory_order_relaxed);
    stats.metadata_per_block = stats.blocks == 0 ? 0 : stats.metadata_bytes / stats.blocks;
    return stats;
}

void CacheCore::count_sequence(int change) {
    const std::lock_guard lock(mutex_);
    counts_.sequences += static_cast<uint64_t>(static_cast<int64_t>(change));
    show_counts();
}

void CacheCore::count_reused(uint64_t blocks) {
    const std::lock_guard lock(mutex_);
    counts_.reused_blocks += blocks;
    show_counts();
}

} // namespace hbf::kv
