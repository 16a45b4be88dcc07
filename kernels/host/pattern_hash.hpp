// SPDX-License-Identifier: Apache-2.0
// The hash behind the pattern, one word at a time: the one of the device kernels, and its inverse, which traces a wrong word
// back to the only address it belongs to.
#pragma once

#include <cstdint>

#include "kernels/device/pattern_hash.h"
#include "pattern.hpp"

namespace hbf::kernels {

inline constexpr uint32_t pattern_multiplier1 = HBF_PATTERN_MULTIPLIER1, pattern_multiplier2 = HBF_PATTERN_MULTIPLIER2;

using PatternWindow = device::pattern_window; // what stays the same within a window of 2^32 words

constexpr PatternWindow pattern_window(const PatternKey &key, uint32_t high) {
    return device::pattern_window_of(key.seed, key.generation, key.complement, high);
}

constexpr uint32_t pattern_hash(const PatternWindow &window, uint32_t low) {
    return device::pattern_hash_of(window, low);
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
