// SPDX-License-Identifier: Apache-2.0
// Partial attention, per instruction set: kernels/device/attention.h in
// vectors, with its arithmetic and its order.
//
// Rows of 16 lanes are multiplied by one number a row and query head and added
// up: keys by the query, values by the weights. How many tiles and heads go
// side by side is a matter of registers and latency, and changes no result.
#if defined(HBF_KERNELS_ATTENTION_PARTIAL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef HBF_KERNELS_ATTENTION_PARTIAL_INL
#undef HBF_KERNELS_ATTENTION_PARTIAL_INL
#else
#define HBF_KERNELS_ATTENTION_PARTIAL_INL
#endif

#include "attention.hpp"
#include "float-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace hbf::kernels {
namespace HWY_NAMESPACE {

inline constexpr bool many_registers = row_vectors == 1; // AVX-512: both halves of a tile fit
inline constexpr size_t side_by_side(size_t heads) {     // tiles or panels
    if (many_registers) return heads == 1 ? 4 : 2;
    return row_vectors * heads <= 2 ? 4 : row_vectors * heads <= 4 ? 2 : 1;
}

// Sums over rows: sum[tile][part] += row * coefficient of the row, a head each.
template <class Stored, size_t tiles, size_t parts, size_t heads>
struct Sums {
    RowVector at[tiles][parts][heads][row_vectors];

    HWY_INLINE HWY_ATTR void clear() {
        for (auto &tile : at)
            for (auto &part : tile)
                for (auto &head : part)
                    for (auto &vector : head) vector = hn::Zero(Floats());
    }

    HWY_INLINE HWY_ATTR void add_row(const typename Stored::Word *row, size_t tile_stride, size_t part_stride,
                                     const float *coefficient, size_t head_stride, size_t coefficient_part_stride) {
        for (size_t p = 0; p < parts; ++p)
            for (size_t t = 0; t < tiles; ++t)
                for (size_t v = 0; v < row_vectors; ++v) {
                    const auto value = Stored::load(row + t * tile_stride + p * part_stride + v * row_lanes);
                    for (size_t h = 0; h < heads; ++h)
                        at[t][p][h][v] =
                            hn::MulAdd(hn::Set(Floats(), coefficient[h * head_stride + p * coefficient_part_stride]), value,
                                       at[t][p][h][v]);
                }
    }

    HWY_INLINE HWY_ATTR void add_rows(const typename Stored::Word *row, size_t tile_stride, size_t count,
                                      const float *coefficient, size_t head_stride, Ahead &ahead) {
        constexpr size_t lines = tiles * parts * 2 * row_size * sizeof(typename Stored::Word) / Ahead::line;
        const size_t part_stride = count * row_size;
        size_t r = 0;
        for (; r + 2 <= count; r += 2) {
            ahead.template fetch<lines>();
            add_row(row + r * row_size, tile_stride, part_stride, coefficient + r, head_stride, count);
            add_row(row + (r + 1) * row_size, tile_stride, part_stride, coefficient + r + 1, head_stride, count);
        }
        if (r < count) add_row(row + r * row_size, tile_stride, part_stride, coefficient + r, head_stride, count);
    }
};

// One KV head of one block, for `heads` query heads that share it.
template <class Stored, size_t heads>
struct HeadGroup {
    const device::kv_shape &shape;
    uint32_t tokens;
    size_t used;                       // heads that there are: the last one stands for those that are not
    const typename Stored::Word *keys; // its values follow
    const float *query;
    float *state, *output; // of the first head
    Ahead &ahead;
    Scores<heads> scores;
    float several[heads > 1 ? heads *HBF_KV_MAX_DIM : 1]; // query, where heads are fewer

    // Nothing is cleared: that would take longer than a short block does.
    HWY_INLINE HeadGroup(const device::kv_shape &of, uint32_t count, size_t there, const typename Stored::Word *from,
                         const float *asked, float *state_into, float *output_into, Ahead &fetching)
        : shape(of), tokens(count), used(there), keys(from), query(asked), state(state_into), output(output_into),
          ahead(fetching) {}

    template <size_t tiles>
    HWY_ATTR void score_tiles(size_t tile) {
        const size_t dim = shape.head_dim, stride = dim * row_size, half = dim / 2;
        constexpr size_t parts = many_registers ? 2 : 1;
        Sums<Stored, tiles, parts, heads> sums;
        sums.clear();
        const auto *const first = keys + tile * stride;
        sums.add_rows(first, stride, half, query, dim, ahead);
        RowVector whole[tiles][heads][row_vectors];
        if constexpr (parts == 2) {
            for (size_t t = 0; t < tiles; ++t)
                for (size_t h = 0; h < heads; ++h)
                    for (size_t v = 0; v < row_vectors; ++v)
                        whole[t][h][v] = hn::Add(sums.at[t][0][h][v], sums.at[t][1][h][v]);
        } else {
            for (size_t t = 0; t < tiles; ++t)
                for (size_t h = 0; h < heads; ++h)
                    for (size_t v = 0; v < row_vectors; ++v) whole[t][h][v] = sums.at[t][0][h][v];
            sums.clear();
            sums.add_rows(first + half * row_size, stride, half, query + half, dim, ahead);
            for (size_t t = 0; t < tiles; ++t)
                for (size_t h = 0; h < heads; ++h)
                    for (size_t v = 0; v < row_vectors; ++v) whole[t][h][v] = hn::Add(whole[t][h][v], sums.at[t][0][h][v]);
        }
        for (size_t t = 0; t < tiles; ++t) scores.put(whole[t], tile + t, tokens, shape.scale);
    }

    template <size_t panels>
    HWY_ATTR void weigh_panels(const typename Stored::Word *values, size_t panel) {
        const size_t stride = size_t{shape.block_tokens} * row_size;
        Sums<Stored, panels, 1, heads> sums;
        sums.clear();
        sums.add_rows(values + panel * stride, stride, tokens, scores.at[0], scores.stride, ahead);
        for (size_t t = 0; t < panels; ++t)
            for (size_t h = 0; h < heads; ++h)
                for (size_t v = 0; v < row_vectors && h < used; ++v)
                    hn::StoreU(plain_nan(sums.at[t][0][h][v]), Floats(),
                               output + h * shape.head_dim + (panel + t) * row_size + v * row_lanes);
    }

    // Where the next group's output goes, which follows: a store to memory that
    // is not in the cache waits for it.
    HWY_INLINE void fetch_to_write(const float *next) const {
        const auto *const bytes = reinterpret_cast<const uint8_t *>(next);
        for (size_t i = 0; i < heads * shape.head_dim * sizeof(float); i += Ahead::line) __builtin_prefetch(bytes + i, 1);
    }

    HWY_ATTR void score() {
        constexpr size_t wide = side_by_side(heads);
        const size_t tiles = (tokens + row_size - 1) / row_size;
        size_t tile = 0;
        if (heads > 1 && used < heads) {
            for (size_t i = 0; i < heads * shape.head_dim; ++i)
                several[i] = query[i / shape.head_dim < used ? i : i % shape.head_dim];
            query = several;
        }
        scores.begin();
        fetch_to_write(output + heads * shape.head_dim);
        if constexpr (wide > 1)
            for (; tile + wide <= tiles; tile += wide) score_tiles<wide>(tile);
        for (; tile < tiles; ++tile) score_tiles<1>(tile);
        scores.to_weights(tiles);
    }

    HWY_ATTR void weigh() {
        constexpr size_t wide = side_by_side(heads);
        const auto *const values = keys + size_t{shape.block_tokens} * shape.head_dim;
        const size_t panels = shape.head_dim / row_size;
        size_t panel = 0;
        if constexpr (wide > 1)
            for (; panel + wide <= panels; panel += wide) weigh_panels<wide>(values, panel);
        for (; panel < panels; ++panel) weigh_panels<1>(values, panel);
        for (size_t h = 0; h < used; ++h) {
            state[2 * h] = scores.max[h], state[2 * h + 1] = scores.sum[h];
            if (scores.max[h] != scores.max[h])
                for (size_t i = 0; i < shape.head_dim; ++i) output[h * shape.head_dim + i] = scores.max[h];
        }
    }
};

// All query heads of one block.
template <class Stored>
struct BlockHeads {
    const device::kv_shape &shape;
    uint32_t tokens;
    const typename Stored::Word *kv;
    const float *query;
    float *state, *output;
    Ahead ahead{}, none{};

    // Up to `heads` of them, from `head` on; how many.
    template <size_t heads>
    HWY_ATTR size_t run(size_t head) {
        const size_t dim = shape.head_dim, shared = shape.query_heads / shape.kv_heads, left = shared - head % shared;
        HeadGroup<Stored, heads> group(shape, tokens, left < heads ? left : heads,
                                       kv + head / shared * 2 * shape.block_tokens * dim, query + head * dim,
                                       state + 2 * head, output + head * dim, head % shared ? none : ahead);
        group.score();
        group.weigh();
        return group.used;
    }

    // What follows is the next block, nullptr if none does.
    HWY_ATTR void run_all(const uint8_t *next) {
        const auto *const bytes = reinterpret_cast<const uint8_t *>(kv);
        ahead = {bytes + Ahead::distance, bytes + device::kv_block_size(shape), next};
        const size_t shared = shape.query_heads / shape.kv_heads;
        for (size_t head = 0; head < shape.query_heads;)
            head += shared - head % shared == 1 ? run<1>(head) : run<head_group>(head);
    }
};

template <class Stored>
HWY_ATTR void attention_of(const AttentionBuffers &buffers, const device::attention_arguments &arguments) {
    const device::kv_block *const blocks = buffers.blocks;
    float *state = buffers.state, *output = buffers.output;
    const device::kv_shape shape = arguments.shape;
    const uint64_t block_size = device::kv_block_size(shape);
    const size_t columns = size_t{shape.query_heads} * shape.head_dim;
    const auto fits = [&](uint32_t b) {
        return b < arguments.block_count &&
               device::kv_block_fits(blocks[b].offset, blocks[b].tokens, shape, block_size, arguments.kv_size);
    };
    for (uint32_t b = 0; b < arguments.block_count; ++b, state += 2 * size_t{shape.query_heads}, output += columns) {
        if (fits(b) && blocks[b].tokens) {
            const uint8_t *const bytes = buffers.kv + blocks[b].offset;
            BlockHeads<Stored> heads{
                shape, blocks[b].tokens, reinterpret_cast<const typename Stored::Word *>(bytes), buffers.query, state,
                output};
            heads.run_all(fits(b + 1) ? buffers.kv + blocks[b + 1].offset : nullptr);
            continue;
        }
        for (size_t h = 0; h < shape.query_heads; ++h)
            state[2 * h] = fits(b) ? -infinity : no_number, state[2 * h + 1] = fits(b) ? 0 : no_number;
        for (size_t i = 0; i < columns; ++i) output[i] = fits(b) ? 0 : no_number;
    }
}

inline void attention(const AttentionBuffers &buffers, const device::attention_arguments &arguments) noexcept {
    if (device::kv_shape_refused(arguments.shape)) return;
    const auto run = arguments.shape.element == HBF_ELEMENT_FP16   ? &attention_of<Fp16>
                     : arguments.shape.element == HBF_ELEMENT_BF16 ? &attention_of<Bf16>
                                                                   : &attention_of<Fp32>;
    run(buffers, arguments);
}

} // namespace HWY_NAMESPACE
} // namespace hbf::kernels
HWY_AFTER_NAMESPACE();

#endif
