// SPDX-License-Identifier: Apache-2.0
// Room in a tier, and who makes it: copies that are kept twice first, then the coldest blocks, down to the next tier or,
// where nobody holds them, away.
#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "core/engine/blocks/cache_core.hpp"
#include "core/engine/undo.hpp"

namespace hbf::kv {

std::optional<Tier> CacheCore::colder(Tier tier) const {
    for (auto i = static_cast<uint32_t>(tier) + 1; i < tier_count; ++i)
        if (has(static_cast<Tier>(i))) return static_cast<Tier>(i);
    return std::nullopt;
}

Result<uint64_t> CacheCore::allocate(Tier tier, uint32_t granules, Clock::time_point deadline) {
    TierPool &from = *pool(tier);
    std::string why; // the last of them
    for (Tried tried;;) {
        from.collect(epochs_);
        auto run = from.allocate(granules);
        if (run || run.error().code != Code::exhausted) return run;
        BlockId victim = no_block;
        if (tried.size() < most_tried) {
            bool lower_copy = false;
            const std::lock_guard lock(mutex_);
            victim = pick_victim(from, lower_copy, tried);
            if (lower_copy) {
                drop_lower(table_[victim]);
                continue;
            }
        }
        if (victim != no_block) {
            if (auto gone = evict(victim, from, deadline); !gone) {
                tried.push_back(victim);
                why = std::move(gone.error().message);
            }
            continue;
        }
        // Readers are about to go on, or blocks that are being written to a log can go then.
        if ((from.waiting() > 0 || groups_ > 0) && Clock::now() < deadline) {
            std::this_thread::yield();
            continue;
        }
        Error error = std::move(run.error());
        error.message +=
            "; what is there is being used and no colder tier takes it: give a larger budget, or drop sequences";
        if (!why.empty()) error.message += fmt::format(" ({})", why);
        return tl::unexpected(std::move(error));
    }
}

// The coldest that may go. Where heat knows none (all that are cold are being moved, or lost), the next that the hand finds.
BlockId CacheCore::pick_victim(TierPool &from, bool &lower_copy, const Tried &tried) {
    heat_->drain(table_);
    if (from.tier != Tier::hbm) {
        if (const BlockId twice = next_by_hand(from, lower_copy, tried, true); twice != no_block) return twice;
    }
    const BlockId coldest = heat_->scheduler().coldest(from.tier, [&](BlockId id) {
        return may_leave(id, from) && std::find(tried.begin(), tried.end(), id) == tried.end();
    });
    return coldest != no_block ? coldest : next_by_hand(from, lower_copy, tried, false);
}

// Goes round like the hand of a clock: a copy that is kept twice, else (unless only such are wanted) of the next few blocks
// the coldest.
BlockId CacheCore::next_by_hand(TierPool &from, bool &lower_copy, const Tried &tried, bool only_copies) {
    constexpr uint32_t looked_at = 32;
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
        ++seen;
        if (only_copies || !may_leave(block, from) || std::find(tried.begin(), tried.end(), block) != tried.end()) continue;
        const auto rank = [&](BlockId one) { return std::pair(heat_->scheduler().heat(one), ~table_[one].first); };
        if (best == no_block || rank(block) < rank(best)) best = block;
    }
    if (all > 0) hand = (hand + looked_at) % all;
    return best;
}

Result<> CacheCore::evict(BlockId block, TierPool &from, Clock::time_point deadline) {
    Result<> moved = fail(Code::unsupported, "there is no colder tier");
    if (colder(from.tier)) {
        Tier to = Tier::cold;
        {
            const std::lock_guard lock(mutex_);
            if (table_.find(block) == nullptr) return {};
            to = below(block);
        }
        moved = to == Tier::cold && logs_ ? evict_to_log(block, from, deadline)
                                          : migrate(block, to, deadline, observe::Reason::room);
    }
    if (moved) return moved;
    const std::lock_guard lock(mutex_);
    BlockRecord *const record = table_.find(block);
    if (record == nullptr) return {};
    if (record->references != 0 || record->moving || !record->sealed) return moved;
    remember_dropped(record->identity);
    heat_->remember(block, record->identity);
    ++counts_.dropped_blocks;
    destroy(block);
    return {};
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
    for (Tried tried; mine.used() > mine.budget();) {
        mine.collect(epochs_);
        BlockId victim = no_block;
        {
            bool lower_copy = false;
            const std::lock_guard lock(mutex_);
            victim = tried.size() < most_tried ? pick_victim(mine, lower_copy, tried) : no_block;
            if (lower_copy) {
                drop_lower(table_[victim]);
                continue;
            }
        }
        if (victim != no_block) {
            if (!evict(victim, mine, until)) tried.push_back(victim);
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
    heat_->scheduler().set_room(tier, tier == Tier::hbm ? hbm_limit() : mine.budget());
    return {};
}

} // namespace hbf::kv
