// SPDX-License-Identifier: Apache-2.0
// Moves a tier's blocks together: the block at the end into the first hole that takes it, until the free memory is in pieces
// that are large enough. Blocks move as in any migration, so readers see nothing of it.
#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "core/engine/blocks/cache_core.hpp"
#include "core/engine/undo.hpp"

namespace hbf::kv {

Result<uint64_t> CacheCore::defragment(Tier tier, double most) {
    if (static_cast<uint32_t>(tier) >= tier_count || pool(tier) == nullptr)
        return fail(Code::unsupported, fmt::format("this cache has no tier {}", to_string(tier)));
    if (!(most >= 0 && most <= 1)) return fail(Code::invalid, fmt::format("a fragmentation of {}; it is from 0 to 1", most));
    TierPool &mine = *pool(tier);
    const uint32_t unit = longest_granules();
    uint64_t moved = 0;
    auto slabs = mine.slabs();
    for (auto slab = slabs.rbegin(); slab != slabs.rend(); ++slab) {
        for (uint64_t i = mine.slab_granules(); i-- > 0;) {
            if (mine.fragmentation(unit) <= most) return moved;
            BlockId block = no_block;
            {
                const std::lock_guard lock(mutex_);
                block = mine.owner(*slab + i);
                if (block == no_block) continue;
                const BlockRecord &record = table_[block];
                const BlockPlace place = place_of(record);
                // Copies kept below, blocks being filled and those on their way stay where they are.
                if (!record.sealed || record.moving || record.lost || place.tier() != tier || place.granule() > *slab + i ||
                    place.granule() + record.granules <= *slab + i)
                    continue;
            }
            auto gone = move_down(block, mine, *slab + i);
            if (!gone) return tl::unexpected(std::move(gone.error()));
            moved += *gone ? 1 : 0;
        }
    }
    return moved;
}

// To the lowest run that is free, if that is below `from`. False: there is none.
Result<bool> CacheCore::move_down(BlockId block, TierPool &mine, uint64_t from) {
    const Lease worker(*this);
    Lock lock(mutex_);
    BlockRecord *const record = table_.find(block);
    if (record == nullptr || !record->sealed || record->moving || place_of(*record).tier() != mine.tier) return false;
    const auto until = deadline();
    const uint64_t began = observe::now_ns();
    {
        record->moving = true;
        const Undo over([&] {
            if (!lock.owns_lock()) lock.lock();
            finish_move(block);
        });
        auto run = mine.allocate(record->granules);
        if (!run) return false;
        Undo unused([&] { (*worker).copier.free_when_finished(mine, *run, record->granules); });
        if (*run >= from) return false;
        if (auto done = transfer(lock, *worker, block, mine, *run, until); !done) {
            ++counts_.failed_transfers;
            return tl::unexpected(std::move(done.error()));
        }
        unused.keep();
        publish(block, BlockPlace(0, mine.tier, *run), false);
        show_move(block, mine.tier, mine.tier, observe::Reason::compacted, {}, true, began);
    }
    lock.unlock();
    while (mine.waiting() > 0 && Clock::now() < until) { // its old place is a hole only then
        mine.collect(epochs_);
        std::this_thread::yield();
    }
    return true;
}

} // namespace hbf::kv
