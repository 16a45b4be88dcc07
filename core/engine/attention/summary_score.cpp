// SPDX-License-Identifier: Apache-2.0
#include "core/engine/attention/summary_score.hpp"

// What these add is nothing to this.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#if !defined(__x86_64__)
#define HWY_COMPILE_ONLY_STATIC 1
#define TOOLCHAIN_MISS_SYS_AUXV_H 1
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/engine/attention/summary_score.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/host/attention/float-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace hbf::kv {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace kn = kernels::HWY_NAMESPACE;

// The largest score that a key between low and high can have takes the high end where the query is positive.
template <class Stored>
HWY_ATTR void score_tile(const typename Stored::Word *low, size_t dim, const float *query, float *bound, float *mean) {
    constexpr size_t vectors = kn::row_vectors, lanes = kn::row_lanes, width = kn::row_size;
    const kn::Floats d;
    const auto none = hn::Zero(d);
    kn::RowVector highs[vectors], lows[vectors], means[vectors];
    for (size_t v = 0; v < vectors; ++v) highs[v] = lows[v] = means[v] = none;
    const auto *const high = low + dim * width, *const middle = high + dim * width;
    for (size_t i = 0; i < dim; ++i) {
        const auto both = hn::Set(d, query[i]), up = hn::Max(both, none), down = hn::Min(both, none);
        for (size_t v = 0; v < vectors; ++v) {
            const size_t at = i * width + v * lanes;
            highs[v] = hn::MulAdd(up, Stored::load(high + at), highs[v]);
            lows[v] = hn::MulAdd(down, Stored::load(low + at), lows[v]);
            means[v] = hn::MulAdd(both, Stored::load(middle + at), means[v]);
        }
    }
    for (size_t v = 0; v < vectors; ++v) {
        hn::StoreU(hn::Add(highs[v], lows[v]), d, bound + v * lanes);
        hn::StoreU(means[v], d, mean + v * lanes);
    }
}

template <class Stored>
HWY_ATTR void score_all(const SummaryTiles &tiles, const float *query, float *bound, float *mean) {
    for (uint32_t tile = 0; tile < tiles.count; ++tile, bound += summary_tile, mean += summary_tile)
        score_tile<Stored>(reinterpret_cast<const typename Stored::Word *>(tiles.first + tile * tiles.stride),
                           tiles.head_dim, query, bound, mean);
}

void score(const SummaryTiles &tiles, const float *query, float *bound, float *mean) {
    if (tiles.element == HBF_ELEMENT_FP16)
        score_all<kn::Fp16>(tiles, query, bound, mean);
    else if (tiles.element == HBF_ELEMENT_BF16)
        score_all<kn::Bf16>(tiles, query, bound, mean);
    else
        score_all<kn::Fp32>(tiles, query, bound, mean);
}

} // namespace HWY_NAMESPACE
} // namespace hbf::kv
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hbf::kv {

HWY_EXPORT(score);

void summary_score(const SummaryTiles &tiles, const float *query, float *bound, float *mean) noexcept {
    HWY_DYNAMIC_DISPATCH(score)(tiles, query, bound, mean);
}

} // namespace hbf::kv
#endif // HWY_ONCE
