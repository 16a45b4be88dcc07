// SPDX-License-Identifier: Apache-2.0
// A block goes from one tier to another: copy, verify, publish, and free when the last reader has gone on. While bytes move
// the lock is open and `moving` keeps the block; what fails leaves it where it was.
#include <fmt/format.h>

#include "core/engine/blocks/cache_core.hpp"
#include "core/engine/undo.hpp"

namespace hbf::kv {

Result<> CacheCore::migrate(BlockId block, Tier to, Clock::time_point deadline, observe::Reason why) {
    const Lease worker(*this);
    Lock lock(mutex_);
    BlockRecord *record = table_.find(block);
    if (record == nullptr) return fail(Code::invalid, fmt::format("there is no block {}", block));
    if (record->same_as != no_block) {
        block = record->same_as;
        record = &table_[block];
    }
    if (static_cast<uint32_t>(to) >= tier_count || !has(to))
        return fail(Code::unsupported, fmt::format("this cache has no tier {}", to_string(to)));
    if (!record->sealed) return fail(Code::invalid, fmt::format("block {} is being filled", block));
    if (record->lost) return fail(Code::data_loss, fmt::format("no copy of block {} is right", block));
    if (record->moving) return fail(Code::busy, fmt::format("block {} is being moved", block));
    if (place_of(*record).tier() == to) return {};
    record->moving = true;
    const Undo over([&] {
        if (!lock.owns_lock()) lock.lock();
        finish_move(block);
    });
    const Tier from = place_of(*record).tier();
    const uint64_t began = observe::now_ns();
    bool copied = true;
    Result<> outcome;
    if (to == Tier::cold && logs_) {
        Storing one;
        one.block = block;
        move_to_log(lock, *worker, {&one, 1}, deadline);
        copied = one.copied;
        outcome = std::move(one.outcome);
    } else {
        outcome = carry(lock, *worker, block, to, deadline, copied);
    }
    record->moving = false;
    show_move(block, from, to, why, outcome, copied, began);
    return outcome;
}

void CacheCore::finish_move(BlockId block) {
    BlockRecord &record = table_[block];
    record.moving = false;
    // What is in the log is found there: if nobody holds it, nobody needs to know more of it.
    if (!record.dead && (record.references != 0 || !in_log(place_of(record)))) return;
    record.dead = false;
    destroy(block);
}

// The new place, of bytes that were verified. What was there before is kept below the new one, or goes.
void CacheCore::publish(BlockId block, BlockPlace at, bool keep_lower) {
    BlockRecord &record = table_[block];
    const BlockPlace old = place_of(record);
    record.place.store(BlockPlace(old.next_generation(), at.tier(), at.granule()).word());
    pool(at.tier())->set_owner(at.granule(), record.granules, block);
    heat_->placed(table_, block, no_block, at.tier());
    if (in_log(old)) {
        leave_log(block, old);
        if (record.indexed) by_content_.insert(block, content_hash());
    } else if (keep_lower && at.tier() < old.tier()) {
        drop_lower(record);
        record.lower = old.word();
    } else {
        if (old.tier() != at.tier()) heat_->removed(block, old.tier());
        retire(old, record.granules);
    }
    ++counts_.migrations;
}

bool CacheCore::lower_is_right(Lock &lock, Worker &worker, BlockRecord &record, Clock::time_point deadline) {
    const BlockPlace lower(record.lower);
    lock.unlock();
    auto bytes = worker.copier.fetch(*pool(lower.tier()), spot(lower), copied_bytes(record), deadline);
    lock.lock();
    if (!bytes && bytes.error().code == Code::data_loss) ++counts_.damaged;
    return bytes.has_value();
}

// The hotter copy is the wrong one: the one below takes its place. False: there is none that is right.
bool CacheCore::take_lower(Lock &lock, Worker &worker, BlockId block, Clock::time_point deadline) {
    BlockRecord &record = table_[block];
    const BlockPlace lower(record.lower);
    if (!lower.somewhere() || !lower_is_right(lock, worker, record, deadline) || record.lower != lower.word()) return false;
    record.lower = BlockPlace().word();
    const BlockPlace wrong = place_of(record);
    record.place.store(BlockPlace(wrong.next_generation(), lower.tier(), lower.granule()).word());
    heat_->removed(block, wrong.tier());
    retire(wrong, record.granules);
    return true;
}

Result<> CacheCore::carry(Lock &lock, Worker &worker, BlockId block, Tier to, Clock::time_point deadline, bool &copied) {
    BlockRecord &record = table_[block];
    if (const BlockPlace lower(record.lower); lower.somewhere() && lower.tier() == to) {
        const bool right = lower_is_right(lock, worker, record, deadline);
        if (right && record.lower == lower.word()) { // nobody needed its place meanwhile
            record.lower = BlockPlace().word();
            publish(block, lower, false);
            ++counts_.published_without_copy;
            copied = false;
            return {};
        }
        if (record.lower == lower.word()) drop_lower(record);
    }
    lock.unlock();
    TierPool &target = *pool(to);
    auto run = allocate(to, record.granules, deadline);
    lock.lock();
    if (!run) return tl::unexpected(std::move(run.error()));
    Undo unused([&] { worker.copier.free_when_finished(target, *run, record.granules); });
    auto done = transfer(lock, worker, block, target, *run, deadline);
    if (!done) {
        ++counts_.failed_transfers;
        if (done.error().code == Code::timeout) ++counts_.expired_transfers;
        return done;
    }
    unused.keep();
    publish(block, BlockPlace(0, to, *run), true);
    return {};
}

// Twice at most: what went wrong on the way may go right, and a copy that was kept below may be right where the first is
// not.
Result<> CacheCore::transfer(Lock &lock, Worker &worker, BlockId block, TierPool &to, uint64_t run,
                             Clock::time_point deadline) {
    BlockRecord &record = table_[block];
    const uint64_t bytes = copied_bytes(record);
    for (int attempt = 0;; ++attempt) {
        const BlockPlace from = place_of(record);
        if (in_log(from)) return load(lock, worker, block, to, run, deadline);
        lock.unlock();
        auto done = worker.copier.copy(to, to.at(run), *pool(from.tier()), spot(from), bytes, deadline);
        bool source_right = true;
        if (!done && done.error().code == Code::data_loss && attempt == 0)
            source_right = worker.copier.fetch(*pool(from.tier()), spot(from), bytes, deadline).has_value();
        lock.lock();
        if (done) {
            counts_.recovered += attempt != 0 ? 1 : 0;
            counts_.migrated[static_cast<size_t>(from.tier())][static_cast<size_t>(to.tier)] += bytes;
            return done;
        }
        if (done.error().code != Code::data_loss) return done;
        ++counts_.damaged;
        if (attempt != 0) return done;
        if (!source_right && !take_lower(lock, worker, block, deadline)) {
            lose(block);
            return done;
        }
    }
}

} // namespace hbf::kv
