// SPDX-License-Identifier: Apache-2.0
// Bytes that are read where they lie, held against their checksums before they are used: what a device, or anybody, wrote
// there by mistake is found. Whoever wants this pays for it (CacheOptions::verify_reads).
#include <fmt/format.h>

#include "core/engine/blocks/sequence_core.hpp"
#include "core/engine/migration/copy_verified.hpp"
#include "core/engine/undo.hpp"
#include "kernels/host/crc32c.hpp"

namespace hbf::kv {

void CacheCore::checksum(BlockId block) {
    const BlockRecord &record = table_[block];
    const Spot at = spot(place_of(record));
    for (uint32_t i = 0; i < record.granules; ++i) at.crc[i] = kernels::crc32c(at.address + i * granule_size, granule_size);
}

Result<> CacheCore::verify(Worker &worker, BlockId block) {
    if (table_[block].same_as != no_block) block = table_[block].same_as;
    BlockRecord &record = table_[block];
    for (;;) {
        BlockPlace place;
        {
            const Reading reading(worker.reader);
            place = place_of(record);
            const Spot at = spot(place);
            if (record.lost.load())
                return fail(Code::data_loss, fmt::format("layer {}, tokens from {} on: no copy is right; compute them again",
                                                         record.layer, record.first));
            if (at.address == nullptr) return {}; // fetched, and checked then
            if (find_damage(at.address, copied_bytes(record), at.crc) < 0) return {};
        }
        Lock lock(mutex_);
        if (place_of(record) != place) continue; // it moved meanwhile: what was looked at may be another block's by now
        ++counts_.damaged;
        const auto gone = [&] {
            return fail(
                Code::data_loss,
                fmt::format("layer {}, tokens from {} on: the bytes in {} changed where they lay; compute them again",
                            record.layer, record.first, to_string(place.tier())));
        };
        if (record.moving) return gone(); // who moves it finds it too
        const BlockPlace lower(record.lower);
        if (!lower.somewhere()) return lose(block), gone();
        record.moving = true;
        const Undo over([&] {
            if (!lock.owns_lock()) lock.lock();
            finish_move(block);
        });
        const bool right = lower_is_right(lock, worker, record, deadline());
        if (record.lower != lower.word()) return gone(); // dropped meanwhile: who reads again finds none
        if (!right) return lose(block), gone();
        record.lower = BlockPlace().word();
        record.place.store(BlockPlace(place.next_generation(), lower.tier(), lower.granule()).word());
        heat_->removed(block, place.tier());
        retire(place, record.granules);
        ++counts_.recovered;
    }
}

Result<> SequenceCore::verify_layer(uint32_t layer) {
    if (!cache_->verifies()) return {};
    const CacheCore::Lease worker(*cache_);
    for (const Lane &lane : lanes_of(layer))
        for (const Entry &entry : lane.entries)
            if (auto right = cache_->verify(*worker, entry.block); !right) return right;
    return {};
}

} // namespace hbf::kv
