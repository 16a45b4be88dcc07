// SPDX-License-Identifier: Apache-2.0
// The checksums of a region's granules as they were last written by an integrity copy.
//
// Read and changed while values retire, in timeline order, and by written_by_cpu: every word is atomic, nothing locks.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "hbf/abi/command.h"

namespace hbf::fabric {

inline constexpr uint64_t granule_size = HBF_CRC_PIECE;

inline uint64_t granules_in(uint64_t size) {
    return size / granule_size + (size % granule_size != 0);
}

class CrcRecords {
public:
    explicit CrcRecords(uint64_t region_size);
    ~CrcRecords();
    CrcRecords(const CrcRecords &) = delete;
    CrcRecords &operator=(const CrcRecords &) = delete;

    // Makes room for the granules of the range, so that set cannot fail. Throws bad_alloc.
    void reserve(uint64_t offset, uint64_t size);

    // `length` bytes from `offset` (a multiple of the granule) have this checksum.
    void set(uint64_t offset, uint32_t length, uint32_t crc) noexcept;

    // The checksum, if one is known for exactly these bytes.
    std::optional<uint32_t> get(uint64_t offset, uint32_t length) const noexcept;

    void drop(uint64_t offset, uint64_t size) noexcept; // of every granule the range touches

private:
    static constexpr uint64_t per_chunk = 1024; // granules: 64 MiB of region, 8 KiB of records
    using Word = std::atomic<uint64_t>;         // length << 32 | crc, 0: unknown

    Word *find(uint64_t granule) const noexcept;

    uint64_t chunk_count_;
    std::unique_ptr<std::atomic<Word *>[]> chunks_;
};

} // namespace hbf::fabric
