// SPDX-License-Identifier: Apache-2.0
// Bytes moved as the device moves them: an aligned 8-byte word is never torn, and each store comes after those before it, so
// that whoever sees a flag sees what was written ahead of it. Any other thread may look on.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hbf::sim {

using Word [[gnu::may_alias]] = uint64_t;

inline uint64_t load_word(const std::byte *at) noexcept {
    return __atomic_load_n(reinterpret_cast<const Word *>(at), __ATOMIC_ACQUIRE);
}
inline void store_word(std::byte *at, uint64_t word) noexcept {
    __atomic_store_n(reinterpret_cast<Word *>(at), word, __ATOMIC_RELEASE);
}
// clang's builtins take integers only, not std::byte.
inline uint8_t load_byte(const std::byte *at) noexcept {
    return __atomic_load_n(reinterpret_cast<const uint8_t *>(at), __ATOMIC_ACQUIRE);
}
inline void store_byte(std::byte *at, uint8_t value) noexcept {
    __atomic_store_n(reinterpret_cast<uint8_t *>(at), value, __ATOMIC_RELEASE);
}
inline bool word_aligned(const std::byte *at) noexcept {
    return reinterpret_cast<uintptr_t>(at) % sizeof(uint64_t) == 0;
}

// Words where both ends can be aligned at once, else bytes. The ranges do not overlap.
inline void move_words(std::byte *to, const std::byte *from, uint64_t size) noexcept {
    const bool together = (reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from)) % sizeof(uint64_t) == 0;
    uint64_t at = 0;
    const auto byte = [&] {
        store_byte(to + at, load_byte(from + at));
        ++at;
    };
    while (at < size && !(together && word_aligned(to + at))) byte();
    for (; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t)) store_word(to + at, load_word(from + at));
    while (at < size) byte();
}

} // namespace hbf::sim
