// SPDX-License-Identifier: Apache-2.0
// The test pattern, generated and verified, per instruction set.
#if defined(HBF_KERNELS_PATTERN_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef HBF_KERNELS_PATTERN_INL
#undef HBF_KERNELS_PATTERN_INL
#else
#define HBF_KERNELS_PATTERN_INL
#endif

#include <cstring>

#include "line-inl.hpp"
#include "pattern_hash.hpp"

HWY_BEFORE_NAMESPACE();
namespace hbf::kernels {
namespace HWY_NAMESPACE {

using Words = hn::ScalableTag<uint32_t>;
using WordVector = hn::Vec<Words>;
inline constexpr size_t word_lanes = HWY_LANES(uint32_t);
inline constexpr size_t group = 4; // vectors hashed together: hides the multiplication's latency
inline constexpr size_t group_words = group * word_lanes;
inline constexpr size_t streaming_from = size_t{1} << 20; // bytes: beyond what a core's caches would keep for the reader

// The next group of words, starting at the counters, which move on.
struct Generator {
    WordVector counter[group], step, before, between, after, multiplier1, multiplier2;

    HWY_INLINE HWY_ATTR Generator(const PatternWindow &window, uint32_t low) {
        const Words d;
        for (size_t i = 0; i < group; ++i) counter[i] = hn::Iota(d, low + static_cast<uint32_t>(i * word_lanes));
        step = hn::Set(d, static_cast<uint32_t>(group_words));
        before = hn::Set(d, window.before), between = hn::Set(d, window.between), after = hn::Set(d, window.after);
        multiplier1 = hn::Set(d, pattern_multiplier1), multiplier2 = hn::Set(d, pattern_multiplier2);
    }

    HWY_INLINE HWY_ATTR void next(WordVector (&out)[group]) {
        for (size_t i = 0; i < group; ++i) {
            auto x = hn::Xor(counter[i], before);
            counter[i] = hn::Add(counter[i], step);
            x = hn::Mul(hn::Xor(x, hn::ShiftRight<16>(x)), multiplier1);
            x = hn::Xor(x, between);
            x = hn::Mul(hn::Xor(x, hn::ShiftRight<15>(x)), multiplier2);
            out[i] = hn::Xor(hn::Xor(x, hn::ShiftRight<16>(x)), after);
        }
    }
};

HWY_INLINE void fill_words(uint8_t *dst, size_t from, size_t to, const PatternWindow &window, uint32_t low) {
    for (size_t at = from; at < to; ++at) {
        const uint32_t word = pattern_hash(window, low + static_cast<uint32_t>(at));
        memcpy(dst + 4 * at, &word, 4);
    }
}

// Words of one window. dst + 4 * from is aligned to the line for streaming stores.
template <Stores S>
HWY_ATTR void fill_window(uint8_t *dst, size_t from, size_t words, const PatternWindow &window, uint32_t low) {
    Generator generator(window, low + static_cast<uint32_t>(from));
    size_t at = from;
    for (; at + group_words <= words; at += group_words) {
        WordVector out[group];
        generator.next(out);
        for (size_t i = 0; i < group; ++i) {
            auto *const word = reinterpret_cast<uint32_t *>(dst + 4 * (at + i * word_lanes));
            if constexpr (S == Stores::streaming)
                hn::Stream(out[i], Words(), word);
            else
                hn::StoreU(out[i], Words(), word);
        }
    }
    fill_words(dst, at, words, window, low);
}

HWY_INLINE void verify_words(const uint8_t *src, size_t from, size_t to, const PatternWindow &window, uint32_t low,
                             uint64_t base, PatternResult &result) {
    for (size_t at = from; at < to; ++at) {
        const uint32_t expected = pattern_hash(window, low + static_cast<uint32_t>(at));
        uint32_t actual;
        memcpy(&actual, src + 4 * at, 4);
        if (actual == expected) continue;
        if (result.wrong_words++ == 0)
            result.first_offset = base + 4 * at, result.expected = expected, result.actual = actual;
    }
}

HWY_ATTR inline void verify_window(const uint8_t *src, size_t words, const PatternWindow &window, uint32_t low,
                                   uint64_t base, PatternResult &result) {
    const Words d;
    Generator generator(window, low);
    size_t at = 0;
    for (; at + group_words <= words; at += group_words) {
        const uint8_t *const here = src + 4 * at;
        for (size_t i = 0; i < 4 * group_words; i += line_size) prefetch(here + i, src + 4 * words - 1);
        WordVector out[group];
        generator.next(out);
        auto wrong = hn::Zero(d);
        for (size_t i = 0; i < group; ++i) {
            const auto actual = hn::LoadU(d, reinterpret_cast<const uint32_t *>(here + 4 * i * word_lanes));
            wrong = hn::Or(wrong, hn::Xor(actual, out[i]));
        }
        if (HWY_UNLIKELY(!hn::AllTrue(d, hn::Eq(wrong, hn::Zero(d)))))
            verify_words(src, at, at + group_words, window, low, base, result);
    }
    verify_words(src, at, words, window, low, base, result);
}

// Calls each(window, low, words) for the windows the range touches.
template <class Each>
HWY_INLINE void each_window(size_t size, const PatternKey &key, uint64_t address, const Each &each) {
    uint64_t index = address / 4, words = size / 4;
    while (words) {
        const uint64_t left = (uint64_t{1} << 32) - static_cast<uint32_t>(index);
        const uint64_t part = words < left ? words : left;
        each(pattern_window(key, static_cast<uint32_t>(index >> 32)), static_cast<uint32_t>(index),
             static_cast<size_t>(part));
        index += part, words -= part;
    }
}

inline void pattern_fill(void *dst, size_t size, const PatternKey &key, uint64_t address) noexcept {
    auto *at = static_cast<uint8_t *>(dst);
    each_window(size, key, address, [&](const PatternWindow &window, uint32_t low, size_t words) {
        const size_t head = to_line(at, 4 * words) / 4; // words
        if (4 * words >= streaming_from && reinterpret_cast<uintptr_t>(at) % 4 == 0) {
            fill_words(at, 0, head, window, low);
            fill_window<Stores::streaming>(at, head, words, window, low);
            streaming_fence();
        } else {
            fill_window<Stores::regular>(at, 0, words, window, low);
        }
        at += 4 * words;
    });
}

inline PatternResult pattern_verify(const void *src, size_t size, const PatternKey &key, uint64_t address) noexcept {
    PatternResult result;
    uint64_t base = 0;
    each_window(size, key, address, [&](const PatternWindow &window, uint32_t low, size_t words) {
        verify_window(static_cast<const uint8_t *>(src) + base, words, window, low, base, result);
        base += 4 * uint64_t{words};
    });
    return result;
}

} // namespace HWY_NAMESPACE
} // namespace hbf::kernels
HWY_AFTER_NAMESPACE();

#endif
