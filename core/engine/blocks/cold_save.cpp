// SPDX-License-Identifier: Apache-2.0
// Everything that can be found again, written to the cold logs: when somebody asks for it, and when the cache closes.
#include <algorithm>
#include <thread>

#include "core/engine/blocks/cache_core.hpp"
#include "core/engine/undo.hpp"

namespace hbf::kv {

Result<uint64_t> CacheCore::save() {
    if (!logs_) return fail(Code::unsupported, "this cache has no cold log: give it cold_storage.path, an absolute folder");
    std::vector<BlockId> blocks;
    size_t held = 0; // of the blocks
    const Undo done_with([&] {
        for (size_t i = 0; i < held; ++i) release(blocks[i]);
    });
    {
        const std::lock_guard lock(mutex_);
        for (uint64_t i = 0; i < table_.end(); ++i) {
            const auto block = static_cast<BlockId>(i);
            BlockRecord &record = table_[block];
            if (!record.used || !record.indexed || record.lost.load() || logs_->of(record.tenant) == nullptr) continue;
            if (record.same_as == no_block && in_log(place_of(record))) continue;
            blocks.push_back(block);
        }
        for (; held < blocks.size(); ++held) ++table_[blocks[held]].references;
        // What comes last in a sequence goes in first: it is also what the log lets go of first.
        std::sort(blocks.begin(), blocks.end(),
                  [&](BlockId a, BlockId b) { return std::pair(table_[a].first, a) > std::pair(table_[b].first, b); });
    }
    const Lease worker(*this);
    uint64_t saved = 0;
    std::vector<BlockId> waiting = blocks;
    for (const auto until = deadline(); !waiting.empty();) {
        std::vector<BlockId> rest; // are being moved just now
        for (size_t next = 0; next < waiting.size();) {
            auto done = save_group(*worker, waiting, next, rest);
            if (!done) return done;
            saved += *done;
        }
        if (rest.size() == waiting.size() && Clock::now() >= until)
            return fail(Code::timeout, "blocks that are being moved could not be saved: try again");
        if (rest.size() == waiting.size()) std::this_thread::yield();
        waiting.swap(rest);
    }
    (void)forget_own_keys();
    return saved;
}

// Some of `waiting`, from `next` on, with one commit. None of them moves meanwhile: two writings of a block that are on
// their way at once would leave its place with the one that is replaced.
Result<uint64_t> CacheCore::save_group(Worker &worker, std::span<const BlockId> waiting, size_t &next,
                                       std::vector<BlockId> &rest) {
    constexpr uint64_t most = 128; // granules
    std::vector<BlockId> group;
    group.reserve(most);
    const Undo over([&] {
        const std::lock_guard lock(mutex_);
        for (const BlockId block : group) finish_move(block);
        --groups_;
    });
    ++groups_;
    {
        const std::lock_guard lock(mutex_);
        for (uint64_t granules = 0; next < waiting.size() && granules < most; ++next) {
            BlockRecord &record = table_[waiting[next]];
            if (record.moving) {
                rest.push_back(waiting[next]);
                continue;
            }
            record.moving = true;
            group.push_back(waiting[next]);
            granules += record.granules;
        }
    }
    uint64_t saved = 0;
    Result<> outcome;
    for (const BlockId block : group) {
        auto done = save_one(worker, block);
        if (!done) outcome = tl::unexpected(std::move(done.error()));
        if (!done) break;
        saved += *done ? 1 : 0;
    }
    for (const BlockId block : group) // those of a log are on the medium after the first
        if (auto done = logs_->of(table_[block].tenant)->commit(); !done && outcome) outcome = std::move(done);
    if (outcome) return saved;
    const std::lock_guard lock(mutex_);
    ++counts_.log.failed;
    return tl::unexpected(std::move(outcome.error()));
}

// The bytes of `block`, its own or another's, under its identity. False: they are not right, and so not written.
Result<bool> CacheCore::save_one(Worker &worker, BlockId block) {
    const BlockRecord &record = table_[block];
    const BlockRecord &holder = record.same_as == no_block ? record : table_[record.same_as];
    ColdLog &log = *logs_->of(record.tenant);
    const Reading reading(worker.reader);
    const BlockPlace place = place_of(holder);
    if (!place.somewhere()) return false;
    const std::byte *bytes = nullptr;
    const uint32_t *crc = nullptr;
    if (in_log(place)) {
        if (record.same_as == no_block) return true; // it went there meanwhile
        auto there = fetch_from_log(worker, holder, place);
        if (!there) return false;
        bytes = there->address;
        crc = there->crc;
    } else {
        const Spot at = spot(place);
        auto there = worker.copier.fetch(*pool(place.tier()), at, copied_bytes(holder), deadline());
        if (!there) return false;
        bytes = *there;
        crc = at.crc;
    }
    if (log.find_same(record.identity, holder.granules, crc) != 0) return true;
    auto done = log.append(record.identity, logs_->next_number(), holder.granules, bytes, crc);
    if (!done) return tl::unexpected(std::move(done.error()));
    const std::lock_guard lock(mutex_);
    ++counts_.log.stored_blocks;
    counts_.log.stored_bytes += copied_bytes(holder);
    return true;
}

} // namespace hbf::kv
