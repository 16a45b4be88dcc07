// SPDX-License-Identifier: Apache-2.0
// What moves next, decided by heat, a round at a time: loads of what requests are about to read, as far as there is room for
// them; hot blocks up; and down what HBM has too much of. A round asks for a few transfers and the next one comes when they
// are done.
#include <algorithm>

#include "core/engine/blocks/cache_core.hpp"

namespace hbf::kv {

using observe::Reason;

namespace {
constexpr size_t stores_a_round = 8, loads_a_round = 32;
constexpr placement::Key colder_by = placement::octave / 4; // than what takes its place, or two would change places for ever
} // namespace

struct CacheCore::Round {
    Clock::time_point until;
    std::vector<BlockId> asked;
    uint64_t coming[tier_count] = {}; // granules
    size_t loads = 0, stores = 0;

    bool has(BlockId block) const { return std::find(asked.begin(), asked.end(), block) != asked.end(); }
};

// Above it blocks move down. Without a thread that does so, all of the budget.
uint64_t CacheCore::hbm_limit() const {
    const auto budget = static_cast<double>(pool(Tier::hbm)->budget());
    return static_cast<uint64_t>(background_ ? budget * settings_.kv.swap_threshold : budget);
}

void CacheCore::balance() {
    if (!background_) { // nobody else looks into the ring
        if (heat_->anything() && mutex_.try_lock()) {
            const std::lock_guard lock(mutex_, std::adopt_lock);
            heat_->drain(table_);
        }
        return;
    }
    if (!colder(Tier::hbm)) return;
    if (heat_->anything() || pool(Tier::hbm)->used() > hbm_limit()) transfers_->wake();
}

void CacheCore::decide() {
    const std::lock_guard lock(mutex_);
    TierPool &hot = *pool(Tier::hbm);
    hot.collect(epochs_);
    heat_->expire();
    heat_->drain(table_);
    heat_->take_chain(chain_);
    const double used = static_cast<double>(hot.used()) / static_cast<double>(std::max<uint64_t>(1, hot.budget()));
    heat_->scheduler().set_pressure(used, static_cast<uint32_t>(counts_.sequences));
    show_heat();
    if (transfers_->waiting() > 0) return;
    Round round{deadline(), {}};
    while (!chain_.empty() && round.loads < loads_a_round) { // what is read next
        const BlockId block = chain_.front();
        chain_.pop_front();
        move_up(round, block, Reason::prefetch);
    }
    for (const BlockId block : heat_->take_below()) move_up(round, block, Reason::hot);
    move_down_for_room(round);
    looks_ahead_.store(heat_->ahead().on() && hot.used() + longest_granules() <= hbm_limit(), std::memory_order_relaxed);
}

void CacheCore::ask(Round &round, BlockId block, Tier to, bool load, Reason why) {
    if (transfers_->add(block, to, load, round.until, static_cast<uint8_t>(why)) == 0) {
        heat_->ahead().gone(block);
        return;
    }
    round.asked.push_back(block);
    if (load) round.coming[static_cast<size_t>(to)] += table_[block].granules;
    ++(load ? round.loads : round.stores);
}

// To HBM, if there is room, or something colder goes. What is to be read next needs no heat, but makes nothing go.
void CacheCore::move_up(Round &round, BlockId block, Reason why) {
    if (round.loads >= loads_a_round) return;
    const BlockRecord *const record = table_.find(block);
    if (record == nullptr || !record->sealed || record->moving || record->lost.load() || round.has(block)) return;
    if (record->same_as != no_block) return move_up(round, record->same_as, why);
    placement::Scheduler &scheduler = heat_->scheduler();
    const auto decision = scheduler.decide(block);
    if (decision.from == Tier::hbm) return;
    const auto room = [&](Tier tier, uint64_t limit) {
        return pool(tier)->used() + round.coming[static_cast<size_t>(tier)] + record->granules <= limit;
    };
    if (why == Reason::prefetch) {
        if (room(Tier::hbm, hbm_limit()) && heat_->ahead().fetching(block, copied_bytes(*record)))
            ask(round, block, Tier::hbm, true, why);
        return;
    }
    if (decision.to >= decision.from) return;
    if (decision.to == Tier::hbf) {
        if (pools_[1] && room(Tier::hbf, pool(Tier::hbf)->budget())) ask(round, block, Tier::hbf, true, why);
        return;
    }
    if (!scheduler.may_come_up(block) && !round.has(scheduler.parent(block))) return;
    if (room(Tier::hbm, hbm_limit())) return ask(round, block, Tier::hbm, true, why);
    if (round.stores > 0) return; // one makes room at a time; this one comes when it is used again
    const BlockId out = scheduler.peek(Tier::hbm, [&](BlockId id) { return may_leave(id, *pool(Tier::hbm)); });
    if (out == no_block || out == scheduler.parent(block) || round.has(out)) return;
    if (scheduler.heat(out) + colder_by < scheduler.heat(block)) ask(round, out, below(out), false, Reason::cooled);
}

void CacheCore::move_down_for_room(Round &round) {
    TierPool &hot = *pool(Tier::hbm);
    const uint64_t limit = hbm_limit(), used = hot.used() - hot.waiting();
    uint64_t leaving = 0;
    while (used > limit + leaving && round.stores < stores_a_round) {
        bool lower_copy = false;
        const BlockId victim = pick_victim(hot, lower_copy, round.asked);
        if (victim == no_block) break;
        leaving += table_[victim].granules;
        ask(round, victim, below(victim), false, Reason::room);
    }
    // What its score says belongs further down.
    for (const Tier tier : {Tier::hbm, Tier::hbf}) {
        TierPool *const from = pool(tier);
        if (from == nullptr || !colder(tier)) continue;
        const BlockId coldest = heat_->scheduler().peek(tier, [&](BlockId id) { return may_leave(id, *from); });
        if (coldest == no_block || round.has(coldest)) continue;
        const auto decision = heat_->scheduler().decide(coldest);
        if (decision.to > tier && has(decision.to)) ask(round, coldest, decision.to, false, Reason::cooled);
    }
}

// Where a block of HBM goes: where a copy of it is, else where it is worth writing.
Tier CacheCore::below(BlockId block) const {
    const placement::Scheduler &scheduler = heat_->scheduler();
    const Tier from = place_of(table_[block]).tier();
    for (auto i = static_cast<uint32_t>(from) + 1; i < tier_count; ++i)
        if (has(static_cast<Tier>(i)) && scheduler.has(block, static_cast<Tier>(i))) return static_cast<Tier>(i);
    const auto to = scheduler.write_to(block, from);
    if (to && *to > from && has(*to)) return *to;
    return colder(from).value_or(from);
}

bool CacheCore::may_leave(BlockId block, const TierPool &from) const {
    const BlockRecord *const record = table_.find(block);
    return record != nullptr && record->sealed && !record->moving && !record->lost.load() && record->same_as == no_block &&
           place_of(*record).tier() == from.tier && (colder(from.tier) || record->references == 0);
}

// Does a transfer that a round asked for. Nobody holds the block: it may be gone by now, and its number another block's.
bool CacheCore::moved(const Transfers::Transfer &transfer) {
    const bool done = guarded([&]() -> Result<> {
                          TierPool *from = nullptr;
                          {
                              const std::lock_guard lock(mutex_);
                              if (table_.find(transfer.block) != nullptr) from = pool(tier_of(transfer.block));
                          }
                          if (transfer.to == Tier::cold && logs_ && from != nullptr) // others come along
                              return evict_to_log(transfer.block, *from, transfer.deadline);
                          return migrate(transfer.block, transfer.to, transfer.deadline, static_cast<Reason>(transfer.why));
                      }).has_value();
    if (!done && transfer.load) {
        const std::lock_guard lock(mutex_);
        heat_->ahead().gone(transfer.block);
    }
    return done;
}

} // namespace hbf::kv
