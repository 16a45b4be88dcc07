/* SPDX-License-Identifier: Apache-2.0 */
/* The address hash: 32-bit words that are a function of seed, generation and logical address.  For one key and one 16 GiB
 * window it is a bijection of the word's index.  Only 32-bit operations: every device has them, and CPUs vectorise them. */
#ifndef HBF_DEVICE_PATTERN_HASH_H
#define HBF_DEVICE_PATTERN_HASH_H

#include "portable.h"

HBF_DEVICE_BEGIN

#define HBF_PATTERN_MULTIPLIER1 0x7FEB352Du
#define HBF_PATTERN_MULTIPLIER2 0x846CA68Bu

/* What stays the same within a window of 2^32 words. */
typedef struct pattern_window {
    uint32_t before, between, after;
} pattern_window;

HBF_PURE uint32_t pattern_mix(uint32_t x) {
    x = (x ^ (x >> 16)) * 0x21F0AAADu;
    x = (x ^ (x >> 15)) * 0x735A2D97u;
    return x ^ (x >> 15);
}

/* high: the upper half of the word's index. */
HBF_PURE pattern_window pattern_window_of(uint32_t seed, uint32_t generation, uint32_t complement, uint32_t high) {
    const uint32_t base = pattern_mix(seed + 0x9E3779B9u) ^ pattern_mix(high + 0x85EBCA6Bu);
    const pattern_window window = {pattern_mix(base + 0x27D4EB2Fu * generation),
                                   pattern_mix(base ^ pattern_mix(generation + 0xC2B2AE35u)), complement ? 0xFFFFFFFFu : 0u};
    return window;
}

/* low: the lower half. */
HBF_PURE uint32_t pattern_hash_of(pattern_window window, uint32_t low) {
    uint32_t x = low ^ window.before;
    x = (x ^ (x >> 16)) * HBF_PATTERN_MULTIPLIER1;
    x ^= window.between;
    x = (x ^ (x >> 15)) * HBF_PATTERN_MULTIPLIER2;
    return x ^ (x >> 16) ^ window.after;
}

HBF_DEVICE_END

#endif
