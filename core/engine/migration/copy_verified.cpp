// SPDX-License-Identifier: Apache-2.0
#include "core/engine/migration/copy_verified.hpp"

#include "core/engine/types.hpp"
#include "kernels/host/copy.hpp"
#include "kernels/host/crc32c.hpp"

namespace hbf::kv {

int64_t copy_verified(std::byte *to, const std::byte *from, uint64_t bytes, const uint32_t *crc) noexcept {
    for (uint64_t at = 0; at < bytes; at += granule_size) {
        uint32_t seen = 0;
        kernels::copy_crc32c(to + at, from + at, granule_size, kernels::Stores::streaming, &seen);
        if (seen != crc[at / granule_size]) return static_cast<int64_t>(at / granule_size);
    }
    return -1;
}

int64_t find_damage(const std::byte *data, uint64_t bytes, const uint32_t *crc) noexcept {
    for (uint64_t at = 0; at < bytes; at += granule_size)
        if (kernels::crc32c(data + at, granule_size) != crc[at / granule_size])
            return static_cast<int64_t>(at / granule_size);
    return -1;
}

} // namespace hbf::kv
