// SPDX-License-Identifier: Apache-2.0
// A copy by the CPU that takes the checksum of the bytes as it stores them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hbf::kv {

// Copies granules (`bytes`, a multiple of 64 KiB) and holds what it stored against crc[i], the checksum of granule i as it
// was sealed. The number of the first granule that differs, -1 if none does. The stores are visible to all who see what this
// thread stores later.
int64_t copy_verified(std::byte *to, const std::byte *from, uint64_t bytes, const uint32_t *crc) noexcept;

// The first granule whose bytes are not those of its checksum, -1 if there is none.
int64_t find_damage(const std::byte *data, uint64_t bytes, const uint32_t *crc) noexcept;

} // namespace hbf::kv
