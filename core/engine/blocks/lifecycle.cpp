// SPDX-License-Identifier: Apache-2.0
// A block from its first token to its end: made, filled, sealed, shared, let go.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "core/engine/blocks/cache_core.hpp"
#include "core/engine/trace/trace.hpp"
#include "core/engine/undo.hpp"
#include "kernels/host/crc32c.hpp"

namespace hbf::kv {

Result<BlockId> CacheCore::new_block(const BlockShape &as) {
    const uint64_t bytes = block_bytes(as.capacity);
    const uint32_t granules = granules_of(bytes);
    auto run = allocate(cpu_->tier, granules, deadline());
    if (!run) return tl::unexpected(run.error());
    Undo unused([&] { cpu_->free(*run, granules); });
    const Spot spot = cpu_->at(*run);
    std::memset(spot.address + bytes, 0, granules * granule_size - bytes); // is checksummed with the block
    const std::lock_guard lock(mutex_);
    const BlockId block = table_.take();
    if (block == no_block)
        return fail(Code::exhausted, fmt::format("{} blocks are all that a cache may have", table_.size()));
    Undo unknown([&] { table_.give_back(block); });
    heat_->scheduler().reserve(block);
    unknown.keep();
    unused.keep();
    BlockRecord &record = table_[block];
    record.references = 1;
    record.first = as.first;
    record.capacity = static_cast<uint16_t>(as.capacity);
    record.granules = static_cast<uint16_t>(granules);
    record.layer = static_cast<uint16_t>(as.lane / model_.head_groups);
    record.group = static_cast<uint16_t>(as.lane % model_.head_groups);
    record.tenant = as.tenant;
    record.place.store(BlockPlace(place_of(record).next_generation(), cpu_->tier, *run).word());
    cpu_->set_owner(*run, granules, block);
    show(block, observe::Reason::filled);
    return block;
}

std::byte *CacheCore::memory(BlockId block) const {
    return spot(place_of(table_[block])).address;
}

bool CacheCore::writable(BlockId block, uint16_t tokens) {
    const std::lock_guard lock(mutex_);
    BlockRecord &record = table_[block];
    if (record.sealed || record.references != 1) return false;
    record.tokens.store(tokens, std::memory_order_relaxed);
    return true;
}

Result<BlockId> CacheCore::copy_of(Worker &worker, BlockId block, uint16_t tokens) {
    const BlockRecord &old = table_[block];
    auto made = new_block({uint32_t{old.layer} * model_.head_groups + old.group, old.first, old.capacity, old.tenant});
    if (!made) return made;
    Undo unused([&] { release(*made); });
    if (verify_reads_)
        if (auto right = verify(worker, block); !right) return tl::unexpected(std::move(right.error()));
    auto copied = with_bytes(worker, block,
                             [&](const std::byte *bytes) { std::memcpy(memory(*made), bytes, block_bytes(old.capacity)); });
    if (!copied) return tl::unexpected(std::move(copied.error()));
    unused.keep();
    table_[*made].tokens.store(tokens, std::memory_order_relaxed);
    if (verify_reads_) checksum(*made);
    return made;
}

void CacheCore::share(BlockId block) {
    const std::lock_guard lock(mutex_);
    ++table_[block].references;
}

void CacheCore::release(BlockId block) {
    const std::lock_guard lock(mutex_);
    release_locked(block);
}

// What can be found again stays, until its place is needed.
void CacheCore::release_locked(BlockId block) {
    BlockRecord &record = table_[block];
    if (--record.references == 0 && (!record.indexed || in_log(place_of(record)))) destroy(block);
}

void CacheCore::retire(BlockPlace place, uint32_t granules) {
    TierPool &from = *pool(place.tier());
    from.set_owner(place.granule(), granules, no_block);
    from.retire(place.granule(), granules, epochs_.retire());
}

void CacheCore::drop_lower(BlockRecord &record) {
    const BlockPlace lower(record.lower);
    record.lower = BlockPlace().word();
    if (!lower.somewhere()) return;
    heat_->removed(pool(lower.tier())->owner(lower.granule()), lower.tier());
    retire(lower, record.granules);
}

void CacheCore::destroy(BlockId block) {
    BlockRecord &record = table_[block];
    unindex(block);
    if (record.moving) {
        record.dead = true; // finish_move comes back to it
        return;
    }
    if (record.same_as != no_block) {
        release_locked(record.same_as);
    } else {
        const BlockPlace place = place_of(record);
        record.place.store(BlockPlace::nowhere(place.next_generation()).word());
        if (in_log(place))
            leave_log(block, place);
        else
            retire(place, record.granules);
        drop_lower(record);
    }
    heat_->forget(block);
    table_.give_back(block);
    show(block, observe::Reason::none);
}

// Its bytes are gone for good: nobody is to find it again, and who holds it is told when they read.
void CacheCore::lose(BlockId block) {
    unindex(block);
    table_[block].lost.store(true);
}

uint64_t CacheCore::fingerprint(const BlockRecord &record) const {
    const uint32_t *const crc = spot(place_of(record)).crc;
    uint64_t hash = record.capacity;
    for (uint32_t i = 0; i < record.granules; ++i) hash = (hash ^ crc[i]) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

BlockId CacheCore::find_identity(const Identity &identity) const {
    return by_identity_.find(IdentityHash()(identity), [&](BlockId block) { return table_[block].identity == identity; });
}

BlockId CacheCore::find_content(BlockId like) const {
    const BlockRecord &mine = table_[like];
    const uint32_t *const crc = spot(place_of(mine)).crc;
    return by_content_.find(fingerprint(mine), [&](BlockId block) {
        const BlockRecord &other = table_[block];
        return block != like && other.tenant == mine.tenant && mine.tenant != too_many_tenants &&
               other.capacity == mine.capacity && !other.lost.load() &&
               std::equal(crc, crc + mine.granules, spot(place_of(other)).crc);
    });
}

void CacheCore::add_to_indexes(BlockId block) {
    BlockRecord &record = table_[block];
    by_identity_.make_room(identity_hash());
    by_content_.make_room(content_hash());
    by_identity_.insert(block, identity_hash());
    if (record.same_as == no_block && !in_log(place_of(record))) by_content_.insert(block, content_hash());
    record.indexed = true;
}

void CacheCore::unindex(BlockId block) {
    BlockRecord &record = table_[block];
    if (!record.indexed) return;
    by_identity_.erase(block, identity_hash());
    if (record.same_as == no_block && !in_log(place_of(record))) by_content_.erase(block, content_hash());
    record.indexed = false;
}

// `one` is the caller's and being filled; both stay held by the caller.
bool CacheCore::same_bytes(Lock &lock, Worker &worker, BlockId one, BlockId other) {
    lock.unlock();
    const Undo again([&] { lock.lock(); });
    bool same = false;
    const uint64_t bytes = block_bytes(table_[one].capacity);
    (void)guarded([&] { // what cannot be read, for whatever reason, is not the same
        return with_bytes(worker, other,
                          [&](const std::byte *theirs) { same = std::memcmp(memory(one), theirs, bytes) == 0; });
    });
    return same;
}

BlockId CacheCore::seal(Worker &worker, BlockId block, const Identity &identity, BlockId parent) {
    BlockRecord &record = table_[block];
    const trace::Span span("seal", copied_bytes(record));
    const Spot mine = spot(place_of(record));
    for (uint32_t i = 0; i < record.granules; ++i)
        mine.crc[i] = kernels::crc32c(mine.address + i * granule_size, granule_size);
    Lock lock(mutex_);
    heat_->drain(table_); // what was used before it was filled is older
    record.identity = identity;
    ++counts_.sealed_blocks;
    if (const BlockId other = find_identity(identity); other != no_block && table_[other].capacity == record.capacity) {
        ++table_[other].references;
        if (same_bytes(lock, worker, block, other)) {
            counts_.dedupe_across_requests += copied_bytes(record);
            release_locked(block);
            return other;
        }
        release_locked(other); // computed otherwise: both are kept, the first is found
        record.sealed = true;
        heat_->placed(table_, block, parent, place_of(record).tier());
        show(block, observe::Reason::filled);
        return block;
    }
    const BlockId twin = dedupe_ ? find_content(block) : no_block;
    if (twin != no_block) {
        ++table_[twin].references;
        if (same_bytes(lock, worker, block, twin)) {
            const BlockRecord &other = table_[twin];
            (other.layer != record.layer || other.group != record.group ? counts_.dedupe_across_layers
                                                                        : counts_.dedupe_across_requests) +=
                copied_bytes(record);
            const BlockPlace place = place_of(record);
            record.place.store(BlockPlace::nowhere(place.next_generation()).word());
            retire(place, record.granules);
            record.same_as = twin;
        } else {
            release_locked(twin);
        }
    }
    record.sealed = true;
    if (record.same_as == no_block) heat_->placed(table_, block, parent, place_of(record).tier());
    // Somebody may have sealed the same one while the lock was open.
    if (find_identity(identity) == no_block) add_to_indexes(block);
    show(block, observe::Reason::filled);
    return block;
}

} // namespace hbf::kv
