// SPDX-License-Identifier: Apache-2.0
// The hash behind the pattern, one word at a time. Only 32-bit operations, so that it vectorises everywhere.
//
// For one key and one 16 GiB window it is a bijection of the word's index: a wrong word can be traced back to the only
// address it belongs to.
#pragma once

#include <cstdint>

#include "pattern.hpp"

namespace hbf::kernels {

inline constexpr uint32_t pattern_multiplier1 = 0x7FEB352Du, pattern_multiplier2 = 0x846CA68Bu;

constexpr uint32_t pattern_mix(uint32_t x) {
    x ^= x >> 16, x *= 0x21F0AAADu;
    x ^= x >> 15, x *= 0x735A2D97u;
    return x ^ (x >> 15);
}

// What stays the same within a window of 2^32 words.
struct PatternWindow {
    uint32_t before, between, after;
};

constexpr PatternWindow pattern_window(const PatternKey &key, uint32_t high) {
    const uint32_t base = pattern_mix(key.seed + 0x9E3779B9u) ^ pattern_mix(high + 0x85EBCA6Bu);
    return {pattern_mix(base + 0x27D4EB2Fu * key.generation), pattern_mix(base ^ pattern_mix(key.generation + 0xC2B2AE35u)),
            key.complement ? ~uint32_t{0} : 0};
}

constexpr uint32_t pattern_hash(const PatternWindow &window, uint32_t low) {
    uint32_t x = low ^ window.before;
    x ^= x >> 16, x *= pattern_multiplier1;
    x ^= window.between;
    x ^= x >> 15, x *= pattern_multiplier2;
    return x ^ (x >> 16) ^ window.after;
}

constexpr uint32_t inverse_of_odd(uint32_t odd) { // modulo 2^32, by Newton's method
    uint32_t x = odd;
    for (int i = 0; i < 4; ++i) x *= 2 - odd * x;
    return x;
}

// The `low` of which `word` is the pattern_hash.
constexpr uint32_t pattern_unhash(const PatternWindow &window, uint32_t word) {
    uint32_t x = word ^ window.after;
    x ^= x >> 16, x *= inverse_of_odd(pattern_multiplier2);
    x ^= x >> 15 ^ x >> 30;
    x ^= window.between, x *= inverse_of_odd(pattern_multiplier1);
    return x ^ (x >> 16) ^ window.before;
}

} // namespace hbf::kernels
