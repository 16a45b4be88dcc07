// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli, RFC 3720 appendix B.4), by the CPU's instruction where there is one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hbf::kernels {

// Standard CRC-32C: crc32c("123456789") == 0xE3069283. `seed` continues an earlier result.
uint32_t crc32c(const void *data, size_t size, uint32_t seed = 0) noexcept;

} // namespace hbf::kernels
