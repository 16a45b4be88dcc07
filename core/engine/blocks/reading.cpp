// SPDX-License-Identifier: Apache-2.0
// A block's bytes for a reader, who is inside an epoch: where the CPU sees them they are read in place, else they are
// fetched and held against their checksums.
#include <fmt/format.h>

#include "core/engine/blocks/cache_core.hpp"

namespace hbf::kv {

Result<const std::byte *> CacheCore::bytes_of(Worker &worker, BlockId block) {
    const BlockId same_as = table_[block].same_as, holder = same_as == no_block ? block : same_as;
    BlockRecord *const record = &table_[holder];
    if (record->lost.load())
        return fail(Code::data_loss,
                    fmt::format("no copy of block {} (layer {}, tokens from {} on) is right: compute it again", block,
                                record->layer, record->first));
    BlockPlace place(record->place.load());
    while (in_log(place)) {
        auto bytes = bytes_in_log(worker, holder, place);
        if (!bytes || *bytes != nullptr) return bytes;
        place = BlockPlace(record->place.load());
    }
    const Spot at = spot(place);
    if (at.address != nullptr) return at.address;
    auto bytes = worker.copier.fetch(*pool(place.tier()), at, copied_bytes(*record), deadline());
    if (bytes) return bytes;
    return recover(worker, *record, bytes.error());
}

// The way failed, or the copy is damaged: once more, then the copy below it if one was kept.
Result<const std::byte *> CacheCore::recover(Worker &worker, BlockRecord &record, const Error &cause) {
    BlockPlace places[2];
    {
        const std::lock_guard lock(mutex_);
        ++counts_.failed_transfers;
        if (cause.code == Code::data_loss) ++counts_.damaged;
        if (cause.code == Code::timeout) ++counts_.expired_transfers;
        places[0] = place_of(record);
        places[1] = BlockPlace(record.lower); // inside the epoch: it stays readable if somebody drops it now
    }
    for (const BlockPlace &place : places) {
        if (!place.somewhere() || in_log(place)) continue;
        auto bytes = worker.copier.fetch(*pool(place.tier()), spot(place), copied_bytes(record), deadline());
        if (!bytes) continue;
        const std::lock_guard lock(mutex_);
        ++counts_.recovered;
        return bytes;
    }
    if (const std::byte *const bytes = copy_in_log(worker, record, places[0]); bytes != nullptr) {
        const std::lock_guard lock(mutex_);
        ++counts_.recovered;
        return bytes;
    }
    Error error = cause;
    error.message =
        fmt::format("layer {}, tokens from {} on: {}; compute them again", record.layer, record.first, cause.message);
    return tl::unexpected(std::move(error));
}

} // namespace hbf::kv
