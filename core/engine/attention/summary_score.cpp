// SPDX-License-Identifier: Apache-2.0
#include "core/engine/attention/summary_score.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

#include "kernels/host/target.hpp"

#ifndef HBF_SUMMARY_OPERATIONS // once, though this file is read for each instruction set
#define HBF_SUMMARY_OPERATIONS
namespace hbf::kv {
namespace {
struct SummaryOperations {
    const char *target; // what kernels_target() begins with
    void (*score)(const SummaryTiles &tiles, const SummaryQuery &query, float *upper, float *pooled, size_t stride);
    void (*best)(const float *scores, uint32_t heads, size_t count, size_t stride, const float *free, float *out);
    double (*masses)(const float *scores, size_t count, const float *free, double known);
};
} // namespace
} // namespace hbf::kv
#endif

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

constexpr size_t most_dim = HBF_KV_MAX_DIM;

// Some heads over all tiles. The largest score that a key between low and high can have takes the high end where the query
// is positive: each channel is multiplied by a number or by zero.
template <class Stored, size_t heads>
struct Scorer {
    float up[heads][most_dim], down[heads][most_dim], both[heads][most_dim];

    void ask(const float *query, size_t dim) {
        for (size_t h = 0; h < heads; ++h)
            for (size_t i = 0; i < dim; ++i) {
                const float number = query[h * dim + i];
                up[h][i] = number > 0 ? number : 0.0f, down[h][i] = number > 0 ? 0.0f : number, both[h][i] = number;
            }
    }

    // One vector's blocks of a tile.
    HWY_ATTR void score(const typename Stored::Word *low, size_t dim, const float *rounding, const float *log_tokens,
                        float *upper, float *pooled, size_t stride) const {
        constexpr size_t width = kn::row_size;
        const kn::Floats d;
        const auto none = hn::Zero(d), infinite = hn::Set(d, kn::infinity);
        kn::RowVector bounds[heads], means[heads];
        for (size_t h = 0; h < heads; ++h) bounds[h] = means[h] = none;
        const auto *const high = low + dim * width, *const middle = high + dim * width;
        for (size_t i = 0; i < dim; ++i) {
            const auto most = Stored::load(high + i * width), least = Stored::load(low + i * width),
                       mean = Stored::load(middle + i * width);
            for (size_t h = 0; h < heads; ++h) {
                bounds[h] = hn::MulAdd(hn::Set(d, up[h][i]), most, bounds[h]);
                bounds[h] = hn::MulAdd(hn::Set(d, down[h][i]), least, bounds[h]);
                means[h] = hn::MulAdd(hn::Set(d, both[h][i]), mean, means[h]);
            }
        }
        const auto tokens = hn::LoadU(d, log_tokens);
        for (size_t h = 0; h < heads; ++h) {
            const auto bound = hn::Add(bounds[h], hn::Set(d, rounding[h]));
            hn::StoreU(hn::IfThenElse(hn::Lt(bound, infinite), hn::Add(bound, tokens), infinite), d, upper + h * stride);
            hn::StoreU(hn::Add(means[h], tokens), d, pooled + h * stride);
        }
    }
};

template <class Stored, size_t heads>
HWY_ATTR void score_heads(const SummaryTiles &tiles, const SummaryQuery &query, float *upper, float *pooled, size_t stride) {
    Scorer<Stored, heads> scorer;
    scorer.ask(query.query, tiles.head_dim);
    for (size_t tile = 0; tile < tiles.count; ++tile)
        for (size_t v = 0; v < kn::row_vectors; ++v) {
            const size_t first = v * kn::row_lanes, at = tile * summary_tile + first;
            scorer.score(reinterpret_cast<const typename Stored::Word *>(tiles.first + tile * tiles.stride) + first,
                         tiles.head_dim, query.rounding, query.log_tokens + at, upper + at, pooled + at, stride);
        }
}

template <class Stored>
HWY_ATTR void score_all(const SummaryTiles &tiles, SummaryQuery query, float *upper, float *pooled, size_t stride) {
    const auto go_on = [&](uint32_t heads) {
        query.query += size_t{heads} * tiles.head_dim, query.rounding += heads, query.heads -= heads;
        upper += heads * stride, pooled += heads * stride;
    };
    for (; query.heads >= 4; go_on(4)) score_heads<Stored, 4>(tiles, query, upper, pooled, stride);
    for (; query.heads >= 2; go_on(2)) score_heads<Stored, 2>(tiles, query, upper, pooled, stride);
    for (; query.heads >= 1; go_on(1)) score_heads<Stored, 1>(tiles, query, upper, pooled, stride);
}

void score(const SummaryTiles &tiles, const SummaryQuery &query, float *upper, float *pooled, size_t stride) {
    if (tiles.element == HBF_ELEMENT_FP16)
        score_all<kn::Fp16>(tiles, query, upper, pooled, stride);
    else if (tiles.element == HBF_ELEMENT_BF16)
        score_all<kn::Bf16>(tiles, query, upper, pooled, stride);
    else
        score_all<kn::Fp32>(tiles, query, upper, pooled, stride);
}

HWY_ATTR void best(const float *scores, uint32_t heads, size_t count, size_t stride, const float *free, float *out) {
    const kn::Floats d;
    const auto least = hn::Set(d, -kn::infinity), none = hn::Zero(d);
    const auto score_of = [&](uint32_t head, size_t i) HWY_ATTR {
        return hn::IfThenElse(hn::Eq(hn::LoadU(d, free + i), none), least, hn::LoadU(d, scores + head * stride + i));
    };
    for (size_t i = 0; i < count; i += kn::row_lanes) hn::StoreU(least, d, out + i);
    for (uint32_t head = 0; head < heads; ++head) {
        auto most = least;
        for (size_t i = 0; i < count; i += kn::row_lanes) most = hn::Max(most, score_of(head, i));
        const float highest = kn::highest_lane(most);
        if (highest == -kn::infinity) continue; // nothing is free, or weighs anything
        const auto base = hn::Set(d, highest);
        for (size_t i = 0; i < count; i += kn::row_lanes)
            hn::StoreU(hn::Max(hn::LoadU(d, out + i), hn::Sub(score_of(head, i), base)), d, out + i);
    }
}

// What is added up in single precision is cut into short sums. Exponentials below the least that there are count as that,
// those beyond exp(80) as that: the sum is infinite for all purposes.
HWY_ATTR double masses(const float *scores, size_t count, const float *free, double known) {
    constexpr size_t cut = 64; // vectors
    const kn::Floats d;
    const float base = static_cast<float>(known);
    const auto from = hn::Set(d, static_cast<double>(base) > known ? std::nextafter(base, -kn::infinity) : base);
    const auto none = hn::Zero(d), most = hn::Set(d, 80.0f), least = hn::Set(d, -87.0f);
    double all = 0;
    for (size_t begin = 0; begin < count; begin += cut * kn::row_lanes) {
        auto sum = none;
        for (size_t i = begin; i < std::min(count, begin + cut * kn::row_lanes); i += kn::row_lanes) {
            const auto x = hn::Max(hn::Min(hn::Sub(hn::LoadU(d, scores + i), from), most), least);
            sum = hn::Add(sum, hn::IfThenElseZero(hn::Ne(hn::LoadU(d, free + i), none), kn::exp_of(x)));
        }
        all += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, sum)));
    }
    return all * (1 + 0x1p-16); // above what all this rounded
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr SummaryOperations summary_operations{"AVX3", &score, &best, &masses};
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
constexpr SummaryOperations summary_operations{"AVX2", &score, &best, &masses};
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
constexpr SummaryOperations summary_operations{"SSE4", &score, &best, &masses};
#else
constexpr SummaryOperations summary_operations{"", &score, &best, &masses}; // of any processor
#endif
} // namespace HWY_NAMESPACE
} // namespace hbf::kv
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hbf::kv {
namespace {

#if HWY_TARGETS == HWY_STATIC_TARGET
constexpr const SummaryOperations *variants[] = {&HWY_STATIC_DISPATCH(summary_operations)};
#else
constexpr const SummaryOperations *variants[] = {
// best first
#if HWY_TARGETS & HWY_AVX3
    &N_AVX3::summary_operations,
#endif
#if HWY_TARGETS & HWY_AVX2
    &N_AVX2::summary_operations,
#endif
#if HWY_TARGETS & HWY_SSE4
    &N_SSE4::summary_operations,
#endif
#if HWY_TARGETS & HWY_EMU128
    &N_EMU128::summary_operations,
#elif HWY_TARGETS & HWY_SCALAR
    &N_SCALAR::summary_operations,
#endif
};
#endif

// By what kernels/host runs on: both take the same instructions. Highway's own dispatch would need more of libhwy than a
// bundle has.
const SummaryOperations &use() noexcept {
    const char *const target = kernels::kernels_target();
    for (const SummaryOperations *variant : variants)
        if (std::strncmp(target, variant->target, std::strlen(variant->target)) == 0) return *variant; // AVX3 for AVX3_DL
    return **(std::end(variants) - 1);
}

} // namespace

void summary_score(const SummaryTiles &tiles, const SummaryQuery &query, float *upper, float *pooled,
                   size_t stride) noexcept {
    use().score(tiles, query, upper, pooled, stride);
}

void best_of_heads(const float *scores, uint32_t heads, size_t count, size_t stride, const float *free,
                   float *best) noexcept {
    use().best(scores, heads, count, stride, free, best);
}

double sum_of_masses(const float *scores, size_t count, const float *free, double known) noexcept {
    if (!(known > -1e30 && known < 1e30)) return std::numeric_limits<double>::infinity(); // NaN too
    return use().masses(scores, count, free, known);
}

} // namespace hbf::kv
#endif // HWY_ONCE
