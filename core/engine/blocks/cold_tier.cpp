// SPDX-License-Identifier: Apache-2.0
// The cold tier as logs on storage: blocks are written there and committed before they leave memory, and found there again,
// by this cache or by one that is opened after it. Nothing of a log is called under the cache's lock (cold_logs.hpp).
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "core/engine/blocks/cache_core.hpp"
#include "core/engine/undo.hpp"

namespace hbf::kv {
namespace {

// A block's place in a log: the writing's number, and whether it stands there under its identity or under a key that only
// this cache knows, because another block of that identity was there first.
BlockPlace log_place(uint64_t generation, uint64_t number, bool own_key) {
    return BlockPlace(generation, Tier::cold, number << 1 | (own_key ? 1 : 0));
}
uint64_t number_of(BlockPlace place) {
    return place.granule() >> 1;
}
bool has_own_key(BlockPlace place) {
    return (place.granule() & 1) != 0;
}
Identity key_of(const Identity &identity, uint64_t number, bool own_key) {
    if (!own_key) return identity;
    return Fields("a writing of its own").add(Field::parent, identity).add(Field::extra, number).digest();
}
Identity key_of(const BlockRecord &record, BlockPlace place) {
    return key_of(record.identity, number_of(place), has_own_key(place));
}
bool is_miss(const Error &error) {
    return error.code == Code::unavailable || error.code == Code::data_loss;
}

} // namespace

Result<> CacheCore::open_logs(const CacheOptions &options, const cold::Calls *calls) {
    const std::string &path = settings_.cold_storage.path;
    if (path.empty()) return {};
    if (options.cold)
        return fail(Code::invalid,
                    fmt::format("cold: a place, and cold_storage.path is {}: one of them can be the cold tier", path));
    if (!model_identity_)
        return fail(Code::invalid, fmt::format("cold_storage.path is {}, but the model's digest is not given: what is kept "
                                               "there could be taken for another model's",
                                               path));
    ColdLogs::Options logs;
    logs.root = path;
    logs.owner = {model_identity_, layout_identity_, {}, options.name};
    if (settings_.cold_storage.size_gb) logs.bytes = static_cast<uint64_t>(*settings_.cold_storage.size_gb * 1e9 + 0.5);
    logs.tenants = options.cold_tenants;
    logs.wipe = options.wipe_cold_tenants;
    logs.pinned = [this](const Identity &block) { return counts_on_log(block); };
    logs.calls = calls;
    auto opened = ColdLogs::open(logs);
    if (!opened) return tl::unexpected(std::move(opened.error()));
    logs_ = std::move(*opened);
    return {};
}

Result<> CacheCore::open_tenant(uint16_t number, std::string_view tenant) {
    if (!logs_) return {};
    auto opened = logs_->open_tenant(number, tenant);
    if (opened) look_for_all_sizes();
    return opened;
}

// A log has blocks of an earlier cache: of what sizes, nobody knows any more.
void CacheCore::look_for_all_sizes() {
    if (!logs_ || !logs_->had_blocks() || all_sizes_.exchange(true)) return;
    const std::lock_guard lock(mutex_);
    for (LaneSize &size : sizes_) size.seen = 0xffff;
}

bool CacheCore::counts_on_log(const Identity &block) const {
    const std::lock_guard lock(mutex_);
    if (own_keys_.contains(block)) return true;
    const BlockId found = find_identity(block);
    if (found == no_block) return false;
    const BlockRecord &record = table_[found];
    return record.moving || (record.references > 0 && in_log(place_of(record)));
}

// The bytes are right in memory and go to the open batch of the log, or are in the log already.
Result<> CacheCore::append_to_log(Lock &lock, Worker &worker, Storing &one, Clock::time_point deadline) {
    BlockRecord &record = table_[one.block];
    one.log = logs_->of(record.tenant);
    if (one.log == nullptr) return fail(Code::unsupported, "the block's tenant has no log");
    const uint64_t size = copied_bytes(record);
    if (record.references > 0 && one.log->held + size > one.log->most_held)
        return fail(Code::exhausted,
                    fmt::format("cold log: {} bytes of it are in use by sequences, of {} that may be: give a "
                                "larger cold_storage.size_gb, or drop sequences",
                                one.log->held.load(), one.log->most_held));
    one.log->held += size;
    one.counted = true;
    one.own_key = !record.indexed;
    one.number = logs_->next_number();
    one.key = key_of(record.identity, one.number, one.own_key);
    if (one.own_key) {
        own_keys_.insert(one.key);
        forgotten_.reserve(forgotten_.size() + own_keys_.size()); // so that blocks can always be let go
    }
    for (int attempt = 0;; ++attempt) {
        const BlockPlace from = place_of(record);
        lock.unlock();
        const Spot at = spot(from);
        auto bytes = worker.copier.fetch(*pool(from.tier()), at, size, deadline);
        if (bytes) {
            const uint64_t number = one.own_key ? 0 : one.log->find_same(one.key, record.granules, at.crc);
            Result<> done;
            if (number != 0 && is_there(worker, *one.log, one.key, number, *bytes, record.granules)) {
                one.number = number;
            } else {
                one.copied = true;
                done = one.log->append(one.key, one.number, record.granules, *bytes, at.crc);
            }
            lock.lock();
            return done; // an error of the medium is none of the block
        }
        lock.lock();
        if (bytes.error().code != Code::data_loss) return tl::unexpected(std::move(bytes.error()));
        ++counts_.damaged;
        if (attempt == 0) continue; // what went wrong on the way may go right
        if (attempt == 2 || !take_lower(lock, worker, one.block, deadline)) {
            lose(one.block);
            return tl::unexpected(std::move(bytes.error()));
        }
    }
}

bool CacheCore::is_there(Worker &worker, const ColdLog &log, const Identity &key, uint64_t number, const std::byte *bytes,
                         uint32_t granules) {
    const auto there = worker.cold.fetch(log, key, number, granules);
    return there && std::memcmp(there->address, bytes, granules * granule_size) == 0;
}

// Each is moving. One commit for all of them; none leaves its place in memory before that.
void CacheCore::move_to_log(Lock &lock, Worker &worker, std::span<Storing> all, Clock::time_point deadline) {
    for (Storing &one : all) {
        one.outcome = guarded([&] { return append_to_log(lock, worker, one, deadline); });
        if (!lock.owns_lock()) lock.lock();
    }
    lock.unlock();
    (void)guarded([&] { return forget_own_keys(); });
    for (Storing &one : all) // those of a log are on the medium after the first
        if (one.outcome && one.copied) one.outcome = guarded([&] { return one.log->commit(); });
    lock.lock();
    for (Storing &one : all) {
        BlockRecord &record = table_[one.block];
        if (one.outcome) {
            publish_in_log(one);
            continue;
        }
        if (one.counted) one.log->held -= copied_bytes(record);
        if (one.own_key) own_keys_.erase(one.key);
        ++counts_.failed_transfers;
        ++counts_.log.failed;
    }
}

void CacheCore::publish_in_log(const Storing &one) {
    BlockRecord &record = table_[one.block];
    const BlockPlace old = place_of(record);
    if (record.indexed) by_content_.erase(one.block, content_hash());
    heat_->placed(table_, one.block, no_block, Tier::cold);
    heat_->removed(one.block, old.tier());
    record.place.store(log_place(old.next_generation(), one.number, one.own_key).word());
    retire(old, record.granules);
    drop_lower(record);
    ++counts_.migrations;
    if (!one.copied) {
        ++counts_.published_without_copy;
        return;
    }
    ++counts_.log.stored_blocks;
    counts_.log.stored_bytes += copied_bytes(record);
    counts_.migrated[static_cast<size_t>(old.tier())][static_cast<size_t>(Tier::cold)] += copied_bytes(record);
}

// The block is elsewhere now, or gone. What stands in the log under its identity stays there, to be found again.
void CacheCore::leave_log(BlockId block, BlockPlace place) {
    const BlockRecord &record = table_[block];
    heat_->removed(block, Tier::cold);
    ColdLog &log = *logs_->of(record.tenant);
    log.held -= copied_bytes(record);
    if (!has_own_key(place)) return;
    const Identity key = key_of(record, place);
    own_keys_.erase(key);
    forgotten_.push_back({&log, key, record.granules});
}

Result<> CacheCore::forget_own_keys() {
    std::vector<Forgotten> all;
    {
        const std::lock_guard lock(mutex_);
        all.swap(forgotten_);
    }
    for (const Forgotten &one : all) (void)one.log->remove(one.key, one.granules); // else it goes when the log needs room
    return {};
}

Result<> CacheCore::evict_to_log(BlockId block, TierPool &from, Clock::time_point deadline) {
    const Lease worker(*this);
    Lock lock(mutex_);
    std::vector<Storing> all;
    all.reserve(2 * most_at_once);
    const Undo over([&] {
        if (!lock.owns_lock()) lock.lock();
        for (const Storing &one : all) finish_move(one.block);
        --groups_;
    });
    ++groups_;
    // Others that would go next come along: a commit is dear, and serves them all.
    const uint64_t most = std::min<uint64_t>(most_at_once, from.budget() / 8);
    uint64_t granules = 0;
    for (uint32_t looked = 0; looked < 2 * most_at_once && block != no_block; ++looked) {
        BlockRecord *const record = table_.find(block);
        const bool goes = record != nullptr && record->sealed && !record->moving && !record->lost.load() &&
                          record->same_as == no_block && place_of(*record).tier() == from.tier &&
                          logs_->of(record->tenant) != nullptr;
        if (!goes && all.empty()) return fail(Code::unsupported, "the block cannot go to the cold log");
        if (goes) {
            record->moving = true;
            all.emplace_back().block = block;
            granules += record->granules;
        }
        if (granules >= most) break;
        bool lower_copy = false;
        block = pick_victim(from, lower_copy, {});
        if (lower_copy) drop_lower(table_[block]);
        if (lower_copy) break; // that is room too
    }
    const uint64_t began = observe::now_ns();
    move_to_log(lock, *worker, all, deadline);
    for (const Storing &one : all) {
        table_[one.block].moving = false;
        show_move(one.block, from.tier, Tier::cold, observe::Reason::room, one.outcome, one.copied, began);
    }
    return all.front().outcome;
}

ColdReader::Piece CacheCore::piece_of(const BlockRecord &record) {
    const BlockPlace place = place_of(record);
    ColdReader::Piece piece;
    piece.key = key_of(record, place);
    piece.number = number_of(place);
    piece.parts = record.granules;
    return piece;
}

Result<Spot> CacheCore::fetch_from_log(Worker &worker, const BlockRecord &record, BlockPlace place) const {
    return worker.cold.fetch(*logs_->of(record.tenant), key_of(record, place), number_of(place), record.granules);
}

Result<> CacheCore::load(Lock &lock, Worker &worker, BlockId block, TierPool &to, uint64_t run, Clock::time_point deadline) {
    BlockRecord &record = table_[block];
    const BlockPlace place = place_of(record);
    const uint64_t bytes = copied_bytes(record);
    for (int attempt = 0;; ++attempt) {
        lock.unlock();
        const auto there = fetch_from_log(worker, record, place);
        Result<> done;
        if (there)
            done = worker.copier.copy(to, to.at(run), *cpu_, *there, bytes, deadline);
        else
            done = tl::unexpected(there.error());
        lock.lock();
        if (done) {
            by_content_.make_room(content_hash()); // publishing cannot fail
            counts_.migrated[static_cast<size_t>(Tier::cold)][static_cast<size_t>(to.tier)] += bytes;
            ++counts_.log.loaded_blocks;
            return done;
        }
        if (!there && is_miss(done.error())) {
            lose_in_log(block, done.error());
            return done;
        }
        if (done.error().code != Code::data_loss) return done;
        ++counts_.damaged;
        if (attempt != 0) return done;
    }
}

void CacheCore::lose_in_log(BlockId block, const Error &why) {
    ++counts_.log.lost_blocks;
    if (why.code == Code::data_loss) ++counts_.damaged;
    lose(block);
}

Result<const std::byte *> CacheCore::bytes_in_log(Worker &worker, BlockId block, BlockPlace place) {
    BlockRecord &record = table_[block];
    const auto there = fetch_from_log(worker, record, place);
    if (there) return there->address;
    Error error = there.error();
    const std::lock_guard lock(mutex_);
    if (place_of(record) != place) return nullptr; // it was moved meanwhile
    if (is_miss(error)) {
        if (!record.lost.load()) lose_in_log(block, error);
        error.code = Code::data_loss;
    }
    error.message =
        fmt::format("layer {}, tokens from {} on: {}; compute them again", record.layer, record.first, error.message);
    return tl::unexpected(std::move(error));
}

// A copy that the log happens to have of a block in memory, of the same checksums. nullptr: none.
const std::byte *CacheCore::copy_in_log(Worker &worker, const BlockRecord &record, BlockPlace place) {
    const ColdLog *const log = logs_ && record.identity ? logs_->of(record.tenant) : nullptr;
    if (log == nullptr || !place.somewhere() || in_log(place)) return nullptr;
    const uint64_t number = log->find_same(record.identity, record.granules, spot(place).crc);
    if (number == 0) return nullptr;
    const auto there = worker.cold.fetch(*log, record.identity, number, record.granules);
    return there ? there->address : nullptr;
}

BlockId CacheCore::take_over(const Identity &identity, const BlockShape &as) {
    const ColdLog *const log = logs_ ? logs_->of(as.tenant) : nullptr;
    if (log == nullptr) return no_block;
    const uint32_t granules = granules_of(block_bytes(as.capacity));
    const uint64_t number = log->find(identity, granules);
    if (number == 0) return no_block;
    BlockId block = no_block;
    {
        const std::lock_guard lock(mutex_);
        if (block = find_identity(identity); block != no_block) { // somebody was quicker
            ++table_[block].references;
            return block;
        }
        by_identity_.make_room(identity_hash());
        block = table_.take();
        if (block == no_block) return no_block;
        Undo unknown([&] { table_.give_back(block); });
        heat_->scheduler().reserve(block);
        unknown.keep();
        BlockRecord &record = table_[block];
        record.identity = identity;
        record.references = 1;
        record.first = as.first;
        record.tokens.store(static_cast<uint16_t>(as.capacity), std::memory_order_relaxed);
        record.capacity = static_cast<uint16_t>(as.capacity);
        record.granules = static_cast<uint16_t>(granules);
        record.layer = static_cast<uint16_t>(as.lane / model_.head_groups);
        record.group = static_cast<uint16_t>(as.lane % model_.head_groups);
        record.tenant = as.tenant;
        record.sealed = true;
        record.place.store(log_place(place_of(record).next_generation(), number, false).word());
        logs_->of(as.tenant)->held += copied_bytes(record);
        add_to_indexes(block);
        heat_->placed(table_, block, no_block, Tier::cold);
        ++counts_.log.found_blocks;
        show(block, observe::Reason::asked);
    }
    // From now on the log keeps it; whether it still had it is seen only now.
    if (log->find(identity, granules) == number) return block;
    release(block);
    return no_block;
}

} // namespace hbf::kv
