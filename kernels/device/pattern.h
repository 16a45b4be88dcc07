/* SPDX-License-Identifier: Apache-2.0 */
/* The test data of the corruption test, as 8-byte words: any of its twelve patterns, a function of pass, seed, generation
 * and logical address (conformance/integrity/pattern.hpp says what each is for). */
#ifndef HBF_DEVICE_PATTERN_H
#define HBF_DEVICE_PATTERN_H

#include "pattern_hash.h"
#include "portable.h"

HBF_DEVICE_BEGIN

#define HBF_PATTERN_COUNT 12u

typedef struct pattern_arguments {
    uint64_t address;    /* logical byte offset of the buffer's first byte, a multiple of 8 */
    uint64_t size;       /* bytes, a multiple of 8 */
    uint32_t pattern;    /* 0 address hash, 1 solid, 2 checkerboard, 3 walking, 4 moving inversions, 5 own address,
                            6 modulo 20, 7 random, 8 block move, 9 switching, 10 bit fade, 11 witness; with others nothing
                            is written, and nothing checked */
    uint32_t pass;       /* of the pattern */
    uint32_t seed;       /* of the run and buffer */
    uint32_t generation; /* of this write */
} pattern_arguments;

/* One work-item's way through the words. */
typedef struct pattern_reader {
    pattern_window window;
    uint32_t high; /* of the window */
    uint32_t hashed, complement;
    uint64_t invert, base;
} pattern_reader;

HBF_PURE uint64_t pattern_splitmix(uint64_t bits) {
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
    return bits ^ (bits >> 31);
}

/* Four bf16 values between 2^-8 and 2, as keys and values have. */
HBF_PURE uint64_t pattern_bf16_values(uint64_t random) {
    uint64_t out = 0;
    for (uint32_t at = 0; at < 64; at += 16) {
        const uint64_t bits = random >> at & 0xFFFFu;
        out |= ((bits & 0x8000u) | (119 + (bits >> 8 & 7)) << 7 | (bits & 0x7Fu)) << at;
    }
    return out;
}

HBF_FUNCTION pattern_reader pattern_read(pattern_arguments a) {
    pattern_reader reader;
    reader.hashed = a.pattern == 0 || a.pattern == 4 || a.pattern == 8 || a.pattern == 10 || a.pattern == 11;
    reader.complement = a.pass & 1;
    reader.invert = reader.complement ? ~(uint64_t)0 : 0;
    reader.high = (uint32_t)(a.address >> 34);
    reader.window = pattern_window_of(a.seed, a.generation, reader.complement, reader.high);
    reader.base = 0;
    if (a.pattern == 6) reader.base = pattern_splitmix(a.seed ^ (uint64_t)a.generation << 32) ^ reader.invert;
    if (a.pattern == 7) reader.base = pattern_splitmix((uint64_t)a.seed << 32 | a.generation);
    return reader;
}

HBF_FUNCTION uint32_t pattern_is_twentieth(pattern_arguments a, uint64_t address) {
    return (address / 64 + a.generation) % 20 == 0;
}

/* Bit masks with one bit set in 1, 4 or 8 words, which moves on with each group of words and with each generation. */
HBF_FUNCTION uint64_t pattern_walking(pattern_arguments a, uint64_t index) {
    const uint32_t shift = a.pass < 2 ? 0 : a.pass < 4 ? 2 : 3, words = 1u << shift;
    const uint32_t place = (uint32_t)((index >> shift) + a.generation) & (64 * words - 1);
    return place / 64 == ((uint32_t)index & (words - 1)) ? (uint64_t)1 << (place & 63) : 0;
}

HBF_FUNCTION uint64_t pattern_switching(pattern_arguments a, uint64_t index) {
    const uint32_t turn = (a.generation & 1) ^ ((uint32_t)index & 1);
    switch (a.pass & 3) {
    case 0:
        return 0x5AA5A55A5AA5A55Au;
    case 1:
        return turn ? 0xE9E9E9E9E9E9E9E9u : 0x1616161616161616u;
    case 2:
        return 0xB5B5B5B54A4A4A4Au;
    default:
        return turn ? ~(uint64_t)0 : 0;
    }
}

/* address: a multiple of 8. */
HBF_FUNCTION uint64_t pattern_word64(pattern_reader *reader, pattern_arguments a, uint64_t address) {
    if (reader->hashed) {
        const uint32_t low = (uint32_t)(address / 4), high = (uint32_t)(address >> 34);
        if (high != reader->high) {
            reader->high = high;
            reader->window = pattern_window_of(a.seed, a.generation, reader->complement, high);
        }
        return pattern_hash_of(reader->window, low) | (uint64_t)pattern_hash_of(reader->window, low + 1) << 32;
    }
    switch (a.pattern) {
    case 2: {
        const uint32_t shift = a.pass < 2 ? 3 : a.pass < 4 ? 6 : 13; /* a word, a line, a row */
        return ((address >> shift & 1) ? 0xAAAAAAAAAAAAAAAAu : 0x5555555555555555u) ^ reader->invert;
    }
    case 3:
        return pattern_walking(a, address / 8) ^ reader->invert;
    case 5:
        return address ^ reader->invert;
    case 6:
        return pattern_is_twentieth(a, address) ? reader->base : ~reader->base;
    case 7:
        return reader->complement ? pattern_bf16_values(pattern_splitmix(reader->base ^ address))
                                  : pattern_splitmix(reader->base + address * 0x9E3779B97F4A7C15u);
    case 9:
        return pattern_switching(a, address / 8);
    default:
        return reader->invert;
    }
}

HBF_DEVICE_END

#endif
