// SPDX-License-Identifier: Apache-2.0
#include "core/fabric/crc_records.hpp"

#include <algorithm>

namespace hbf::fabric {

CrcRecords::CrcRecords(uint64_t region_size)
    : chunk_count_((granules_in(region_size) + per_chunk - 1) / per_chunk),
      chunks_(new std::atomic<Word *>[chunk_count_]()) {}

CrcRecords::~CrcRecords() {
    for (uint64_t i = 0; i < chunk_count_; ++i) delete[] chunks_[i].load(std::memory_order_relaxed);
}

void CrcRecords::reserve(uint64_t offset, uint64_t size) {
    const uint64_t last = (offset + size - 1) / granule_size / per_chunk;
    for (uint64_t i = offset / granule_size / per_chunk; i <= last; ++i) {
        if (chunks_[i].load(std::memory_order_acquire) != nullptr) continue;
        std::unique_ptr<Word[]> fresh(new Word[per_chunk]());
        Word *none = nullptr;
        if (chunks_[i].compare_exchange_strong(none, fresh.get(), std::memory_order_acq_rel)) (void)fresh.release();
    }
}

CrcRecords::Word *CrcRecords::find(uint64_t granule) const noexcept {
    Word *chunk = chunks_[granule / per_chunk].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : &chunk[granule % per_chunk];
}

void CrcRecords::set(uint64_t offset, uint32_t length, uint32_t crc) noexcept {
    if (Word *word = find(offset / granule_size)) word->store(uint64_t{length} << 32 | crc, std::memory_order_relaxed);
}

std::optional<uint32_t> CrcRecords::get(uint64_t offset, uint32_t length) const noexcept {
    const Word *word = find(offset / granule_size);
    if (word == nullptr) return std::nullopt;
    const uint64_t record = word->load(std::memory_order_relaxed);
    if (record >> 32 != length) return std::nullopt;
    return static_cast<uint32_t>(record);
}

void CrcRecords::drop(uint64_t offset, uint64_t size) noexcept {
    const uint64_t last = (offset + size - 1) / granule_size;
    for (uint64_t granule = offset / granule_size; granule <= last;) {
        const uint64_t chunk_end = (granule / per_chunk + 1) * per_chunk;
        Word *chunk = chunks_[granule / per_chunk].load(std::memory_order_acquire);
        if (chunk == nullptr) {
            granule = chunk_end;
            continue;
        }
        for (; granule <= last && granule < chunk_end; ++granule)
            chunk[granule % per_chunk].store(0, std::memory_order_relaxed);
    }
}

} // namespace hbf::fabric
