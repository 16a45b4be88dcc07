// SPDX-License-Identifier: Apache-2.0
// Room in a tier, and who makes it: copies that are kept twice first, then the blocks used longest ago, down to the next
// tier or, where nobody holds them, away.
#include <thread>

#include <fmt/format.h>

#include "core/engine/blocks/cache_core.hpp"
#include "core/engine/undo.hpp"

namespace hbf::kv {

TierPool *CacheCore::colder(Tier tier) const {
    for (auto i = static_cast<uint32_t>(tier) + 1; i < tier_count; ++i)
        if (pools_[i]) return pools_[i].get();
    return nullptr;
}

Result<uint64_t> CacheCore::allocate(Tier tier, uint32_t granules, Clock::time_point deadline) {
    TierPool &from = *pool(tier);
    for (uint32_t failures = 0;;) {
        from.collect(epochs_);
        auto run = from.allocate(granules);
        if (run || run.error().code != Code::exhausted) return run;
        BlockId victim = no_block;
        if (failures < 16) {
            bool lower_copy = false;
            const std::lock_guard lock(mutex_);
            victim = pick_victim(from, lower_copy);
            if (lower_copy) {
                drop_lower(table_[victim]);
                continue;
            }
        }
        if (victim != no_block) {
            if (auto gone = evict(victim, from, deadline); !gone) ++failures;
            continue;
        }
        if (from.waiting() > 0 && Clock::now() < deadline) { // readers are about to go on
            std::this_thread::yield();
            continue;
        }
        Error error = std::move(run.error());
        error.message +=
            "; what is there is being used and no colder tier takes it: give a larger budget, or drop sequences";
        return tl::unexpected(std::move(error));
    }
}

// Goes round like the hand of a clock, and takes of the next few blocks the one used longest ago.
BlockId CacheCore::pick_victim(TierPool &from, bool &lower_copy) {
    constexpr uint32_t looked_at = 32;
    const bool can_go_down = colder(from.tier) != nullptr;
    const auto slabs = from.slabs();
    const uint64_t each = from.slab_granules(), all = slabs.size() * each;
    uint64_t &hand = hands_[static_cast<size_t>(from.tier)];
    BlockId best = no_block;
    uint32_t seen = 0;
    for (uint64_t step = 0; step < all && seen < looked_at;) {
        const uint64_t at = (hand + step) % all, granule = slabs[at / each] + at % each;
        const BlockId block = from.owner(granule);
        if (block == no_block) {
            ++step;
            continue;
        }
        BlockRecord &record = table_[block];
        step += record.granules;
        if (record.moving || record.lost) continue;
        if (const BlockPlace lower(record.lower); lower.somewhere() && lower.tier() == from.tier &&
                                                  granule >= lower.granule() &&
                                                  granule < lower.granule() + record.granules) {
            lower_copy = true;
            return block;
        }
        if (!record.sealed || (!can_go_down && record.references != 0)) continue;
        ++seen;
        // Of a sequence's blocks all were used at once: the last goes first.
        const auto rank = [&](const BlockRecord &one) { return std::pair(one.last_use.load(), ~one.first); };
        if (best == no_block || rank(record) < rank(table_[best])) best = block;
    }
    if (best != no_block && all > 0) hand = (hand + looked_at) % all;
    return best;
}

Result<> CacheCore::evict(BlockId block, TierPool &from, Clock::time_point deadline) {
    Result<> moved = fail(Code::unsupported, "there is no colder tier");
    if (TierPool *const to = colder(from.tier); to != nullptr)
        moved = migrate(block, to->tier, deadline, observe::Reason::room);
    if (moved) return moved;
    const std::lock_guard lock(mutex_);
    BlockRecord *const record = table_.find(block);
    if (record == nullptr) return {};
    if (record->references != 0 || record->moving || !record->sealed) return moved;
    remember_dropped(record->identity);
    ++counts_.dropped_blocks;
    destroy(block);
    return {};
}

void CacheCore::balance() {
    TierPool &hot = *pool(Tier::hbm);
    TierPool *const to = colder(Tier::hbm);
    if (!background_ || to == nullptr || transfers_->waiting() > 0) return;
    const auto limit = static_cast<uint64_t>(static_cast<double>(hot.budget()) * settings_.kv.swap_threshold);
    if (hot.used() <= limit) return;
    BlockId victim = no_block;
    {
        bool lower_copy = false;
        const std::lock_guard lock(mutex_);
        victim = pick_victim(hot, lower_copy);
    }
    if (victim != no_block) (void)transfers_->add(victim, to->tier, false, deadline());
}

Result<> CacheCore::set_budget(Tier tier, uint64_t bytes) {
    if (static_cast<uint32_t>(tier) >= tier_count || pool(tier) == nullptr)
        return fail(Code::unsupported, fmt::format("this cache has no tier {}", to_string(tier)));
    TierPool &mine = *pool(tier);
    const uint64_t least = uint64_t{longest_granules()} * granule_size, before = mine.budget() * granule_size;
    if (bytes < least)
        return fail(Code::invalid,
                    fmt::format("a budget of {} bytes for {}; the largest block takes {}", bytes, to_string(tier), least));
    auto facts = mine.device.refresh(mine.info.index);
    if (!facts) return tl::unexpected(facts.error());
    if (bytes > facts->capacity)
        return fail(Code::invalid, fmt::format("a budget of {} bytes for {}; tier {} has {}", bytes, to_string(tier),
                                               facts->name, facts->capacity));
    mine.set_budget(bytes);
    Undo as_before([&] { mine.set_budget(before); });
    const auto until = deadline();
    for (uint32_t failures = 0; mine.used() > mine.budget();) {
        mine.collect(epochs_);
        BlockId victim = no_block;
        {
            bool lower_copy = false;
            const std::lock_guard lock(mutex_);
            victim = failures < 16 ? pick_victim(mine, lower_copy) : no_block;
            if (lower_copy) {
                drop_lower(table_[victim]);
                continue;
            }
        }
        if (victim != no_block) {
            failures += evict(victim, mine, until) ? 0 : 1;
        } else if (mine.waiting() == 0 || Clock::now() >= until) {
            if (mine.used() <= mine.budget()) break;
            const uint64_t used = mine.used() * granule_size;
            return fail(Code::exhausted, fmt::format("{} bytes of {} are in use and no colder tier takes them: the budget "
                                                     "stays {}",
                                                     used, to_string(tier), before));
        } else {
            std::this_thread::yield();
        }
    }
    as_before.keep();
    const std::lock_guard lock(mutex_); // who looks for victims sees no slab go
    mine.trim();
    return {};
}

} // namespace hbf::kv
