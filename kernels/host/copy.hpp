// SPDX-License-Identifier: Apache-2.0
// Copy loops. `regular` stores allocate cache lines; `streaming` (non-temporal) ones do not, and end with the fence that
// makes them visible before anything stored later.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hbf::kernels {

enum class Stores { regular, streaming };

void copy(void *dst, const void *src, size_t size, Stores stores) noexcept;

// Copies and writes one CRC-32C per 64 KiB piece of the source (the last may be shorter), taken from the bytes as they are
// moved.
void copy_crc32c(void *dst, const void *src, size_t size, Stores stores, uint32_t *crc) noexcept;

// Repeats the low pattern_size (1, 2, 4, 8) bytes of `pattern`, little-endian, from dst on; any size.
void fill(void *dst, size_t size, uint64_t pattern, unsigned pattern_size, Stores stores) noexcept;

// Reads every byte and folds it into the result: the reference for read bandwidth.
uint64_t read_all(const void *src, size_t size) noexcept;

} // namespace hbf::kernels
