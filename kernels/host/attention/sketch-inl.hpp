// SPDX-License-Identifier: Apache-2.0
// Scores of key sketches, per instruction set: kernels/device/sketch_score.h in vectors, with its arithmetic and its order.
#if defined(HBF_KERNELS_ATTENTION_SKETCH_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef HBF_KERNELS_ATTENTION_SKETCH_INL
#undef HBF_KERNELS_ATTENTION_SKETCH_INL
#else
#define HBF_KERNELS_ATTENTION_SKETCH_INL
#endif

#include <algorithm>

#include "float-inl.hpp"
#include "sketch.hpp"

HWY_BEFORE_NAMESPACE();
namespace hbf::kernels {
namespace HWY_NAMESPACE {

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
inline constexpr bool multiplies_pairs = true; // an instruction multiplies and adds two neighbours of 16 bits
#else
inline constexpr bool multiplies_pairs = false;
#endif

// One KV head's sketch of one block, for `heads` query heads that share it.
template <size_t heads>
struct SketchGroup {
    const device::sketch_shape &shape;
    uint32_t tokens;
    size_t used; // heads that there are
    const uint8_t *sketch;
    const float *query;
    float *result; // of the first head
    Scores<heads> scores;
    // Integers: of channels i and i + half a word's channels, 16 bits each, or of one channel.
    uint32_t weight[heads][HBF_KV_MAX_DIM];
    float low[heads], unit[heads], error[heads];

    // Nothing is cleared: that would take longer than a short block does.
    HWY_INLINE SketchGroup(const device::sketch_shape &of, uint32_t count, size_t there, const uint8_t *from,
                           const float *asked, float *into)
        : shape(of), tokens(count), used(there), sketch(from), query(asked), result(into) {}

    template <class Stored>
    HWY_ATTR void weigh() {
        const Floats d;
        const size_t dim = shape.kv.head_dim;
        const auto *const lows = reinterpret_cast<const typename Stored::Word *>(sketch), *const steps = lows + dim;
        const auto codes = hn::Set(d, static_cast<float>((1u << shape.bits) - 1));
        HWY_ALIGN float product[HBF_KV_MAX_DIM];
        for (size_t h = 0; h < used; ++h) {
            RowVector low_sum[row_vectors], wide_sum[row_vectors], round_sum[row_vectors];
            auto most = hn::Zero(d);
            for (size_t v = 0; v < row_vectors; ++v) low_sum[v] = wide_sum[v] = round_sum[v] = hn::Zero(d);
            for (size_t i = 0; i < dim; i += row_size)
                for (size_t v = 0; v < row_vectors; ++v) {
                    const size_t at = i + v * row_lanes;
                    const auto q = hn::LoadU(d, query + h * dim + at), size = hn::Abs(q);
                    const auto from = Stored::load(lows + at), step = Stored::load(steps + at);
                    const auto weighed = hn::Mul(q, step), magnitude = hn::Abs(weighed);
                    hn::Store(weighed, d, product + at);
                    most = hn::IfThenElse(hn::Gt(magnitude, most), magnitude, most); // not NaN
                    low_sum[v] = hn::MulAdd(q, from, low_sum[v]);
                    wide_sum[v] = hn::MulAdd(size, step, wide_sum[v]);
                    round_sum[v] = hn::MulAdd(size, hn::MulAdd(codes, step, hn::Abs(from)), round_sum[v]);
                }
            low[h] = sum_of_row(low_sum);
            unit[h] = device::sketch_unit_size(hn::GetLane(hn::MaxOfLanes(d, most)));
            error[h] = device::sketch_error(sum_of_row(wide_sum), sum_of_row(round_sum), unit[h], shape);
            to_integers(product, h);
        }
        for (size_t h = used; h < heads; ++h) { // those that are not: the first again
            low[h] = low[0], unit[h] = unit[0];
            std::copy_n(weight[0], dim, weight[h]);
        }
    }

    HWY_ATTR void to_integers(const float *product, size_t head) {
        const Floats d;
        const WordTag words;
        const size_t half = 16 / shape.bits;
        const auto units = hn::Set(d, device::sketch_units(unit[head])), shift = hn::Set(d, 12582912.0f);
        HWY_ALIGN uint32_t integer[HBF_KV_MAX_DIM];
        for (size_t i = 0; i < shape.kv.head_dim; i += row_lanes) {
            const auto moved = hn::MulAdd(hn::Load(d, product + i), units, shift);
            hn::Store(hn::Sub(hn::BitCast(words, moved), hn::Set(words, 0x4b400000u)), words, integer + i);
        }
        uint32_t *const to = weight[head];
        if (!multiplies_pairs) std::copy_n(integer, shape.kv.head_dim, to);
        for (size_t first = 0; multiplies_pairs && first < shape.kv.head_dim; first += 2 * half)
            for (size_t i = first; i < first + half; ++i) to[i] = (integer[i] & 0xffff) | integer[i + half] << 16;
    }

    // Tiles side by side, so that sums do not wait for each other; a word holds channels from the lowest bits on.
    template <size_t tiles>
    HWY_ATTR void score_tiles(const uint32_t *codes, size_t tile) {
        using Integers = hn::RebindToSigned<Floats>;
        const Integers d;
        const WordTag words;
        const size_t in_word = 32 / shape.bits, tile_words = shape.kv.head_dim / in_word * row_size;
        const size_t steps = multiplies_pairs ? in_word / 2 : in_word;
        const auto mask = hn::Set(words, ((1u << shape.bits) - 1) * (multiplies_pairs ? 0x10001u : 1u));
        const int bits = static_cast<int>(shape.bits);
        hn::Vec<Integers> sum[tiles][heads][row_vectors];
        for (size_t t = 0; t < tiles; ++t)
            for (size_t h = 0; h < heads; ++h)
                for (size_t v = 0; v < row_vectors; ++v) sum[t][h][v] = hn::Zero(d);
        const uint32_t *row = codes + tile * tile_words;
        for (size_t i = 0; i < shape.kv.head_dim; i += in_word, row += row_size) {
            hn::Vec<WordTag> word[tiles][row_vectors];
            for (size_t t = 0; t < tiles; ++t) __builtin_prefetch(row + t * tile_words + 2048); // 8 KiB on: the next heads
            for (size_t t = 0; t < tiles; ++t)
                for (size_t v = 0; v < row_vectors; ++v) word[t][v] = hn::LoadU(words, row + t * tile_words + v * row_lanes);
            for (size_t j = 0; j < steps; ++j)
                for (size_t t = 0; t < tiles; ++t)
                    for (size_t v = 0; v < row_vectors; ++v) {
                        const auto code = hn::And(word[t][v], mask);
                        word[t][v] = hn::ShiftRightSame(word[t][v], bits);
                        for (size_t h = 0; h < heads; ++h) sum[t][h][v] = added(sum[t][h][v], code, weight[h][i + j]);
                    }
        }
        hn::Vec<Integers> whole[tiles][heads][row_vectors]; // a copy, for what has its address taken stays in memory
        for (size_t t = 0; t < tiles; ++t)
            for (size_t h = 0; h < heads; ++h)
                for (size_t v = 0; v < row_vectors; ++v) whole[t][h][v] = sum[t][h][v];
        for (size_t t = 0; t < tiles; ++t) put(whole[t], tile + t);
    }

    template <class Sum, class Code>
    HWY_INLINE HWY_ATTR static Sum added(Sum sum, Code code, uint32_t integer) {
        const hn::RebindToSigned<Floats> d;
        const auto factor = hn::BitCast(d, hn::Set(WordTag(), integer));
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
        const hn::Repartition<int16_t, decltype(d)> halves;
        auto none = hn::Zero(d);
        return hn::ReorderWidenMulAccumulate(d, hn::BitCast(halves, code), hn::BitCast(halves, factor), sum, none);
#else
        return hn::Add(sum, hn::Mul(hn::BitCast(d, code), factor));
#endif
    }

    // As sketch_of_sum.
    template <class Sum>
    HWY_ATTR void put(const Sum (&sum)[heads][row_vectors], size_t tile) {
        const Floats d;
        RowVector products[heads][row_vectors];
        for (size_t h = 0; h < heads; ++h)
            for (size_t v = 0; v < row_vectors; ++v)
                products[h][v] = hn::MulAdd(hn::ConvertTo(d, sum[h][v]), hn::Set(d, unit[h]), hn::Set(d, low[h]));
        scores.put(products, tile, tokens, shape.kv.scale);
    }

    HWY_ATTR void run() {
        constexpr size_t wide = row_vectors == 1 ? 2 : 1;
        const auto *const codes = reinterpret_cast<const uint32_t *>(sketch + device::sketch_range_size(shape));
        const size_t count = (tokens + row_size - 1) / row_size;
        size_t tile = 0;
        if (shape.kv.element == HBF_ELEMENT_FP16) weigh<Fp16>();
        if (shape.kv.element == HBF_ELEMENT_BF16) weigh<Bf16>();
        if (shape.kv.element == HBF_ELEMENT_FP32) weigh<Fp32>();
        scores.begin();
        if constexpr (wide > 1)
            for (; tile + wide <= count; tile += wide) score_tiles<wide>(codes, tile);
        for (; tile < count; ++tile) score_tiles<1>(codes, tile);
        scores.to_weights(count);
        for (size_t h = 0; h < used; ++h) {
            const bool known = error[h] < infinity && scores.max[h] > -infinity; // no comparison holds for NaN
            result[3 * h] = known ? scores.max[h] : infinity;
            result[3 * h + 1] = known ? scores.sum[h] : 1;
            result[3 * h + 2] = known ? error[h] : infinity;
        }
    }
};

template <size_t heads>
HWY_ATTR size_t sketch_heads(const device::sketch_shape &shape, uint32_t tokens, const uint8_t *block, const float *query,
                             float *result, size_t head) {
    const size_t shared = shape.kv.query_heads / shape.kv.kv_heads, left = shared - head % shared;
    SketchGroup<heads> group(shape, tokens, left < heads ? left : heads,
                             block + head / shared * device::sketch_head_size(shape), query + head * shape.kv.head_dim,
                             result + 3 * head);
    group.run();
    return group.used;
}

inline void sketch_score(const SketchBuffers &buffers, const device::sketch_score_arguments &arguments) noexcept {
    const device::sketch_shape shape = arguments.shape;
    if (device::sketch_shape_refused(shape)) return;
    const size_t shared = shape.kv.query_heads / shape.kv.kv_heads;
    float *result = buffers.result;
    for (uint32_t b = 0; b < arguments.block_count; ++b, result += 3 * size_t{shape.kv.query_heads}) {
        const device::kv_block block = buffers.blocks[b];
        const bool fits = device::kv_block_fits(block.offset, block.tokens, shape.kv, device::sketch_block_size(shape),
                                                arguments.sketch_size);
        for (size_t head = 0; head < shape.kv.query_heads;) {
            if (!fits || block.tokens == 0) {
                float *const of_head = result + 3 * head++;
                of_head[0] = fits ? -infinity : infinity, of_head[1] = fits ? 0 : 1, of_head[2] = fits ? 0 : infinity;
                continue;
            }
            const auto run = shared - head % shared > 1 ? &sketch_heads<head_group> : &sketch_heads<1>;
            head += run(shape, block.tokens, buffers.sketches + block.offset, buffers.query, result, head);
        }
    }
}

} // namespace HWY_NAMESPACE
} // namespace hbf::kernels
HWY_AFTER_NAMESPACE();

#endif
