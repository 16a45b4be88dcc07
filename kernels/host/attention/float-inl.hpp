// SPDX-License-Identifier: Apache-2.0
// Rows of 16 stored numbers as fp32, and scores made weights, per instruction
// set: kernels/device/float.h in vectors.
#if defined(HBF_KERNELS_ATTENTION_FLOAT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef HBF_KERNELS_ATTENTION_FLOAT_INL
#undef HBF_KERNELS_ATTENTION_FLOAT_INL
#else
#define HBF_KERNELS_ATTENTION_FLOAT_INL
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <hwy/highway.h>

#include "kernels/device/attention_layout.h"

HWY_BEFORE_NAMESPACE();
namespace hbf::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline constexpr size_t row_size = 16; // numbers: a tile's or panel's width
using Floats = hn::CappedTag<float, row_size>;
using RowVector = hn::Vec<Floats>;
using WordTag = hn::RebindToUnsigned<Floats>;
inline constexpr size_t row_lanes = hn::MaxLanes(Floats());
inline constexpr size_t row_vectors = row_size / row_lanes;
inline constexpr size_t head_group =
    row_vectors * 4 <= 8 || HWY_ARCH_ARM_A64 ? 4 : 2; // query heads side by side, where so many share a KV head
inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr float no_number = std::numeric_limits<float>::quiet_NaN();

struct Fp32 {
    using Word = float;
    HWY_INLINE HWY_ATTR static RowVector load(const float *at) { return hn::LoadU(Floats(), at); }
};

struct Bf16 {
    using Word = uint16_t;
    HWY_INLINE HWY_ATTR static RowVector load(const uint16_t *at) {
        const hn::Rebind<uint16_t, Floats> narrow;
        return hn::BitCast(Floats(), hn::ShiftLeft<16>(hn::PromoteTo(WordTag(), hn::LoadU(narrow, at))));
    }
};

struct Fp16 {
    using Word = uint16_t;
    HWY_INLINE HWY_ATTR static RowVector load(const uint16_t *at) {
#if (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2) || (HWY_ARCH_ARM_A64 && (__ARM_FP & 2))
        const hn::Rebind<hwy::float16_t, Floats> narrow;
        return hn::PromoteTo(Floats(), hn::LoadU(narrow, reinterpret_cast<const hwy::float16_t *>(at)));
#else // without an instruction Highway takes infinity for 65536
        const hn::Rebind<uint16_t, Floats> narrow;
        const WordTag d;
        const hn::RebindToSigned<Floats> integers;
        const auto word = hn::PromoteTo(d, hn::LoadU(narrow, at));
        const auto sign = hn::ShiftLeft<16>(hn::And(word, hn::Set(d, 0x8000)));
        const auto magnitude = hn::And(word, hn::Set(d, 0x7fff));
        const auto subnormal =
            hn::BitCast(d, hn::Mul(hn::ConvertTo(Floats(), hn::BitCast(integers, magnitude)), hn::Set(Floats(), 0x1p-24f)));
        const auto moved = hn::Add(hn::ShiftLeft<13>(magnitude), hn::Set(d, 112u << 23));
        const auto is_small = hn::Lt(hn::BitCast(integers, magnitude), hn::Set(integers, 0x400));
        const auto is_wide = hn::Gt(hn::BitCast(integers, magnitude), hn::Set(integers, 0x7bff));
        const auto bias = hn::IfThenElseZero(hn::RebindMask(d, is_wide), hn::Set(d, 112u << 23));
        const auto value = hn::IfThenElse(hn::RebindMask(d, is_small), subnormal, hn::Add(moved, bias));
        return hn::BitCast(Floats(), hn::Or(sign, value));
#endif
    }
};

// As hbf_exp.
HWY_INLINE HWY_ATTR RowVector exp_of(RowVector x) {
    const Floats d;
    const WordTag words;
    const auto shift = hn::Set(d, 12582912.0f), one = hn::Set(d, 1.0f);
    const auto t = hn::MulAdd(x, hn::Set(d, 1.44269502f), shift);
    const auto n = hn::Sub(t, shift);
    const auto r = hn::NegMulAdd(n, hn::Set(d, 0.0017409306f), hn::NegMulAdd(n, hn::Set(d, 0.69140625f), x));
    auto p = hn::MulAdd(hn::Set(d, 0.00139505381f), r, hn::Set(d, 0.00836891774f));
    p = hn::MulAdd(p, r, hn::Set(d, 0.041666206f));
    p = hn::MulAdd(p, r, hn::Set(d, 0.166665182f));
    p = hn::MulAdd(p, r, hn::Set(d, 0.5f));
    p = hn::MulAdd(hn::MulAdd(p, r, one), r, one);
    const auto scaled = hn::Add(hn::BitCast(words, p), hn::ShiftLeft<23>(hn::BitCast(words, t)));
    return hn::IfThenElseZero(hn::Ge(x, hn::Set(d, -87.0f)), hn::BitCast(d, scaled));
}

HWY_INLINE HWY_ATTR RowVector plain_nan(RowVector x) {
    return hn::IfThenElse(hn::Eq(x, x), x, hn::Set(Floats(), no_number));
}

// As hbf_sum16.
HWY_INLINE HWY_ATTR float sum_of_row(const RowVector (&row)[row_vectors]) {
    HWY_ALIGN float lane[row_size];
    for (size_t v = 0; v < row_vectors; ++v) hn::Store(row[v], Floats(), lane + v * row_lanes);
    for (size_t width = 8; width != 0; width /= 2)
        for (size_t i = 0; i < width; ++i) lane[i] += lane[i + width];
    return lane[0];
}

// No lane is NaN. Highway's emulation begins its search at the lowest finite number, above -infinity.
HWY_INLINE HWY_ATTR float highest_lane(RowVector x) {
    const Floats d;
    const float found = hn::GetLane(hn::MaxOfLanes(d, x));
    if (found != std::numeric_limits<float>::lowest()) return found;
    HWY_ALIGN float lane[row_lanes];
    hn::Store(x, d, lane);
    return *std::max_element(lane, lane + row_lanes);
}

// Scores of one block for some query heads, then their weights.
template <size_t heads>
struct Scores {
    static constexpr size_t stride = HBF_KV_MAX_TOKENS;
    HWY_ALIGN float at[heads][stride];
    RowVector highest[heads][row_vectors];
    float max[heads], sum[heads]; // once they are weights; NaN where a score was
                                  // no number or too large

    HWY_INLINE HWY_ATTR void begin() {
        for (auto &head : highest)
            for (auto &vector : head) vector = hn::Set(Floats(), -infinity);
    }

    // Those of a tile's tokens; beyond `tokens` there are none.
    HWY_ATTR void put(const RowVector (&products)[heads][row_vectors], size_t tile, uint32_t tokens, float scale) {
        const Floats d;
        const auto limit = hn::Set(d, infinity);
        for (size_t v = 0; v < row_vectors; ++v) {
            const float first = static_cast<float>(tile * row_size + v * row_lanes);
            const auto there = hn::Lt(hn::Iota(d, first), hn::Set(d, static_cast<float>(tokens)));
            for (size_t h = 0; h < heads; ++h) {
                auto score = hn::Mul(products[h][v], hn::Set(d, scale));
                score = hn::IfThenElse(hn::Lt(score, limit), score, limit);
                score = hn::IfThenElse(there, score, hn::Set(d, -infinity));
                highest[h][v] = hn::Max(highest[h][v], score);
                hn::StoreU(score, d, at[h] + tile * row_size + v * row_lanes);
            }
        }
    }

    HWY_ATTR void to_weights(size_t tiles) {
        const Floats d;
        for (size_t h = 0; h < heads; ++h) {
            auto most = highest[h][0];
            for (size_t v = 1; v < row_vectors; ++v) most = hn::Max(most, highest[h][v]);
            const float limit = highest_lane(most);
            const auto base = hn::Set(d, limit == -infinity ? 0.0f : limit);
            RowVector sums[row_vectors];
            for (auto &vector : sums) vector = hn::Zero(d);
            for (size_t tile = 0; tile < tiles; ++tile)
                for (size_t v = 0; v < row_vectors; ++v) {
                    float *const place = at[h] + tile * row_size + v * row_lanes;
                    const auto weight = exp_of(hn::Sub(hn::LoadU(d, place), base));
                    hn::StoreU(weight, d, place);
                    sums[v] = hn::Add(sums[v], weight);
                }
            max[h] = limit == infinity ? no_number : limit + 0.0f;
            sum[h] = limit == infinity ? no_number : sum_of_row(sums);
        }
    }
};

// What to fetch into the cache meanwhile: the rest of the block, a fixed
// distance ahead, and then the start of the next.
struct Ahead {
    static constexpr size_t distance = 12288,
                            line = 64; // bytes; nearer is late, farther crowds a small L1
    const uint8_t *at, *end, *next;

    template <size_t lines>
    HWY_INLINE void fetch() {
        if (HWY_UNLIKELY(at >= end)) {
            if (!next) return;
            at = next, end = next + distance, next = nullptr;
        }
        for (size_t i = 0; i < lines; ++i) __builtin_prefetch(at + i * line);
        at += lines * line;
    }
};

} // namespace HWY_NAMESPACE
} // namespace hbf::kernels
HWY_AFTER_NAMESPACE();

#endif
