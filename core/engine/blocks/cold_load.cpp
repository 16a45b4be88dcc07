// SPDX-License-Identifier: Apache-2.0
// What a sequence has taken over out of a log is loaded before anybody reads it, as far as memory is free: many parts at a
// time, and a block that is damaged is a miss while it is still one.
#include <algorithm>

#include "core/engine/blocks/cache_core.hpp"
#include "core/engine/undo.hpp"

namespace hbf::kv {

bool CacheCore::waits_in_log(BlockId block) const {
    return logs_ && table_[block].same_as == no_block && in_log(place_of(table_[block]));
}

// A run in HBM or HBF that is free without anybody's going, nothing where there is none.
std::optional<BlockPlace> CacheCore::free_run(uint32_t granules) {
    for (const Tier tier : {Tier::hbm, Tier::hbf}) {
        TierPool *const mine = pool(tier);
        if (mine == nullptr) continue;
        const double most = tier == Tier::hbm ? settings_.kv.swap_threshold : 1;
        if (static_cast<double>(mine->used() + granules) > most * static_cast<double>(mine->budget())) continue;
        if (auto run = mine->allocate(granules)) return BlockPlace(0, tier, *run);
    }
    return std::nullopt;
}

void CacheCore::load_found(std::span<const BlockId> blocks) {
    const Lease worker(*this);
    while (!blocks.empty()) {
        std::vector<Loading> all;
        std::vector<ColdReader::Piece> pieces;
        all.reserve((*worker).cold.most_parts());
        pieces.reserve((*worker).cold.most_parts());
        size_t finished = 0;
        const Undo rest([&] { // where memory ran out
            const std::lock_guard lock(mutex_);
            for (; finished < all.size(); ++finished) give_up_loading(*worker, all[finished]);
        });
        const ColdLog *log = nullptr;
        bool room = true;
        {
            const std::lock_guard lock(mutex_);
            uint64_t parts = 0;
            for (; !blocks.empty(); blocks = blocks.subspan(1)) {
                BlockRecord &record = table_[blocks.front()];
                if (record.moving || record.lost.load() || !waits_in_log(blocks.front())) continue;
                const ColdLog *const mine = logs_->of(record.tenant);
                if (parts + record.granules > (*worker).cold.most_parts() || (log != nullptr && mine != log)) break;
                const auto run = free_run(record.granules);
                room = run.has_value();
                if (!room) break;
                record.moving = true;
                log = mine;
                parts += record.granules;
                all.push_back({blocks.front(), *run});
                pieces.push_back(piece_of(record));
            }
        }
        if (all.empty()) return; // the others are read where they are
        const uint64_t began = observe::now_ns();
        (*worker).cold.fetch(*log, pieces);
        for (; finished < all.size(); ++finished) finish_loading(*worker, all[finished], pieces[finished], began);
        if (!room) return;
    }
}

void CacheCore::finish_loading(Worker &worker, const Loading &one, ColdReader::Piece &piece, uint64_t began) {
    TierPool &to = *pool(one.to.tier());
    const uint64_t bytes = piece.parts * granule_size;
    const bool read = piece.outcome.has_value();
    if (read) piece.outcome = worker.copier.copy(to, to.at(one.to.granule()), *cpu_, piece.there, bytes, deadline());
    const std::lock_guard lock(mutex_);
    if (piece.outcome) {
        by_content_.make_room(content_hash());
        counts_.migrated[static_cast<size_t>(Tier::cold)][static_cast<size_t>(to.tier)] += bytes;
        ++counts_.log.loaded_blocks;
        publish(one.block, one.to, true);
    } else {
        ++counts_.failed_transfers;
        const Code code = piece.outcome.error().code;
        if (!read && (code == Code::unavailable || code == Code::data_loss)) lose_in_log(one.block, piece.outcome.error());
    }
    table_[one.block].moving = false;
    show_move(one.block, Tier::cold, to.tier, observe::Reason::asked, piece.outcome, true, began);
    if (piece.outcome)
        finish_move(one.block);
    else
        give_up_loading(worker, one);
}

void CacheCore::give_up_loading(Worker &worker, const Loading &one) {
    worker.copier.free_when_finished(*pool(one.to.tier()), one.to.granule(), table_[one.block].granules);
    finish_move(one.block);
}

} // namespace hbf::kv
