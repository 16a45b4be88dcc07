// SPDX-License-Identifier: Apache-2.0
// The words of the classic patterns, each as a function of the address that a compiler can turn into a loop.
#pragma once

#include <cstdint>

#include "conformance/integrity/pattern.hpp"
#include "conformance/measure/splitmix.hpp"

namespace hbf::integrity {

constexpr uint64_t row_size = 8192; // bytes: a row of DRAM as one rank shows it

inline bool is_twentieth(const Datum &datum, uint64_t address) {
    return (address / line_size + datum.generation) % modulo == 0;
}

// Four bf16 values between 2^-8 and 2 with either sign: exponents nearly constant, as in keys and values. What compresses,
// scrambles or encodes by toggling sees other data than random bits.
constexpr uint64_t bf16_values(uint64_t random) {
    uint64_t out = 0;
    for (unsigned i = 0; i < 4; ++i) {
        const uint64_t bits = random >> (16 * i) & 0xffff;
        const uint64_t exponent = 119 + (bits >> 8 & 7);
        out |= ((bits & 0x8000) | exponent << 7 | (bits & 0x7f)) << (16 * i);
    }
    return out;
}

// Calls use(word) with a function from address to word. Not for hashed data.
template <class Use>
void with_words(const Datum &datum, const Use &use) {
    constexpr uint64_t fives = 0x5555555555555555u;
    const uint64_t invert = datum.pass % 2 == 1 ? ~uint64_t{0} : 0;
    const uint64_t generation = datum.generation;
    switch (datum.pattern) {
    case Pattern::solid:
        return use([=](uint64_t) { return invert; });
    case Pattern::checkerboard: {
        const uint64_t unit = datum.pass < 2 ? word_size : datum.pass < 4 ? line_size : row_size;
        return use([=](uint64_t address) { return (address / unit % 2 == 0 ? fives : ~fives) ^ invert; });
    }
    case Pattern::walking: {
        // One bit in `words` words; where it is moves on with each group of words and with each generation.
        const uint64_t words = datum.pass < 2 ? 1 : datum.pass < 4 ? 4 : 8;
        return use([=](uint64_t address) {
            const uint64_t index = address / word_size, place = (index / words + generation) % (64 * words);
            return (place / 64 == index % words ? uint64_t{1} << (place % 64) : 0) ^ invert;
        });
    }
    case Pattern::own_address:
        return use([=](uint64_t address) { return address ^ invert; });
    case Pattern::modulo_20: {
        const uint64_t base = splitmix(datum.seed ^ generation << 32) ^ invert;
        return use([=](uint64_t address) { return is_twentieth(datum, address) ? base : ~base; });
    }
    case Pattern::random: {
        const uint64_t base = splitmix(uint64_t{datum.seed} << 32 | generation);
        if (datum.pass % 2 == 1) return use([=](uint64_t address) { return bf16_values(splitmix(base ^ address)); });
        return use([=](uint64_t address) { return splitmix(base + address * SplitMix::step); });
    }
    case Pattern::switching: {
        constexpr uint64_t words[4][2] = {{0x5aa5a55a5aa5a55au, 0x5aa5a55a5aa5a55au},
                                          {0x1616161616161616u, 0xe9e9e9e9e9e9e9e9u},
                                          {0xb5b5b5b54a4a4a4au, 0xb5b5b5b54a4a4a4au},
                                          {0, ~uint64_t{0}}};
        const uint64_t even = words[datum.pass % 4][generation % 2], odd = words[datum.pass % 4][1 - generation % 2];
        return use([=](uint64_t address) { return address / word_size % 2 == 0 ? even : odd; });
    }
    default:
        return;
    }
}

} // namespace hbf::integrity
