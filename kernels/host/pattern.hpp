// SPDX-License-Identifier: Apache-2.0
// The base test pattern: 32-bit words that are a hash of (seed, generation, logical address), so that a stale, misplaced or
// flipped word tells what it is. No period, incompressible.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hbf::kernels {

struct PatternKey {
    uint32_t seed = 0;       // of the run and buffer
    uint32_t generation = 0; // of this write
    bool complement = false;
};

uint32_t pattern_word(const PatternKey &key, uint64_t address) noexcept; // address: logical byte offset, multiple of 4

// Writes bytes [address, address + size) of the pattern; address and size are multiples of 4.
void pattern_fill(void *dst, size_t size, const PatternKey &key, uint64_t address) noexcept;

struct PatternResult {
    uint64_t wrong_words = 0;
    uint64_t first_offset = 0; // bytes from the start of the buffer, of the first wrong word
    uint32_t expected = 0, actual = 0;
};

PatternResult pattern_verify(const void *src, size_t size, const PatternKey &key, uint64_t address) noexcept;

} // namespace hbf::kernels
