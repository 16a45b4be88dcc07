/* SPDX-License-Identifier: Apache-2.0 */
/* What attention.h would say of each block, known from its sketch alone, and how wrong that can be.
 *
 * Buffer 0: sketches, as sketch_layout.h describes.  1: block_count kv_blocks, offsets of sketches.  2: the query, fp32,
 * head after head.  3: for each block and head three fp32 numbers: m, l and e.
 *
 * l * exp(m), the block's mass, lies within a factor of exp(e) of the true one, and m within e of the true largest score:
 *
 *   e = |scale| * (sum |q_i| step_i / 2  +  D * codes * u / 2  +  what fp32 rounds)  +  2^-16
 *
 * Codes are multiplied by q_i * step_i as integers of 15 bits, whose unit u is a power of two at most 2^-13 of the largest:
 * so sums of them are exact, in any order, and e grows by little.  Rounding is bounded by (2 D + 64) 2^-23 of
 * sum |q_i| (|low_i| + codes * step_i), enough for the score here, for the one of attention.h, and for processors that round
 * products; 2^-16 covers exp and its sums.
 *
 * A block without tokens has m = -infinity, l = 0, e = 0.  Where nothing is known (a key or the query is NaN or infinite, a
 * number grew too large, or the entry does not fit into the buffer) all is possible: m = infinity, l = 1, e = infinity. */
#ifndef HBF_DEVICE_SKETCH_SCORE_H
#define HBF_DEVICE_SKETCH_SCORE_H

#include "sketch_layout.h"

HBF_DEVICE_BEGIN

typedef struct sketch_score_arguments {
    uint64_t sketch_size; /* bytes of buffer 0 */
    sketch_shape shape;
    uint32_t block_count;
    uint32_t reserved;
} sketch_score_arguments;

#define HBF_SKETCH_HEADS 4u /* query heads of one KV head that a group takes at a time */
#define HBF_SKETCH_PHASES 6u

typedef struct sketch_score_local {
    uint32_t weight[HBF_SKETCH_HEADS][HBF_KV_MAX_DIM]; /* q_i * step_i, the float's bits, then the integer */
    float score[HBF_SKETCH_HEADS][HBF_KV_MAX_TOKENS];
    float low[HBF_SKETCH_HEADS][16], wide[HBF_SKETCH_HEADS][16], round[HBF_SKETCH_HEADS][16]; /* sums over channels */
    float most[HBF_SKETCH_HEADS][16];                                                         /* of |q_i * step_i| */
    float max[HBF_SKETCH_HEADS][16], sum[HBF_SKETCH_HEADS][16];
} sketch_score_local;

/* One block for some heads: a group's work between the first and the last of its phases. */
typedef struct sketch_unit {
    uint32_t there; /* 0: past the end */
    uint32_t fits;
    uint64_t offset; /* of the KV head's part of the sketch */
    uint32_t tokens, head, heads;
    uint64_t slot; /* of the first head in what is written */
} sketch_unit;

HBF_FUNCTION uint32_t sketch_chunks(sketch_shape shape) {
    return (shape.kv.query_heads / shape.kv.kv_heads + HBF_SKETCH_HEADS - 1) / HBF_SKETCH_HEADS;
}

HBF_FUNCTION uint32_t sketch_score_phases(hbf_item item, sketch_score_arguments arguments) {
    if (sketch_shape_refused(arguments.shape)) return 0;
    const uint64_t units = (uint64_t)arguments.block_count * arguments.shape.kv.kv_heads * sketch_chunks(arguments.shape);
    return HBF_SKETCH_PHASES * (uint32_t)((units + item.groups - 1) / item.groups);
}

HBF_FUNCTION sketch_unit sketch_unit_of(uint64_t number, HBF_GLOBAL const uint8_t *table, sketch_score_arguments arguments) {
    const kv_shape shape = arguments.shape.kv;
    const uint32_t chunks = sketch_chunks(arguments.shape), sharing = shape.query_heads / shape.kv_heads;
    const uint64_t block = number / chunks / shape.kv_heads;
    sketch_unit unit;
    unit.there = block < arguments.block_count;
    const uint64_t entry = sizeof(kv_block) * (unit.there ? block : 0), offset = hbf_load64(table + entry);
    unit.tokens = hbf_load32(table + entry + 8);
    unit.fits = kv_block_fits(offset, unit.tokens, shape, sketch_block_size(arguments.shape), arguments.sketch_size);
    if (!unit.fits) unit.tokens = 0;
    const uint32_t kv_head = (uint32_t)(number / chunks % shape.kv_heads),
                   first = (uint32_t)(number % chunks) * HBF_SKETCH_HEADS;
    unit.offset = unit.fits ? offset + kv_head * sketch_head_size(arguments.shape) : 0;
    unit.head = kv_head * sharing + first;
    unit.heads = sharing - first < HBF_SKETCH_HEADS ? sharing - first : HBF_SKETCH_HEADS;
    unit.slot = block * shape.query_heads + unit.head;
    return unit;
}

/* Channels lane, lane + 16, ... of one head: weights, the largest of them, and the three sums. */
HBF_FUNCTION void sketch_weigh(HBF_GLOBAL const uint8_t *sketch, HBF_GLOBAL const uint8_t *query, uint32_t head,
                               uint32_t lane, sketch_shape shape, HBF_LOCAL sketch_score_local *shared) {
    const float codes = (float)((1u << shape.bits) - 1);
    float low = 0, wide = 0, round = 0, most = 0;
    for (uint32_t i = lane; i < shape.kv.head_dim; i += 16) {
        const float q = hbf_load_float(query, i), size = hbf_magnitude(q);
        const float from = hbf_load_element(sketch, shape.kv.element, i);
        const float step = hbf_load_element(sketch, shape.kv.element, shape.kv.head_dim + i);
        const float weight = hbf_mul(q, step);
        shared->weight[head][i] = HBF_BITS(weight);
        most = hbf_magnitude(weight) > most ? hbf_magnitude(weight) : most;
        low = hbf_fma(q, from, low);
        wide = hbf_fma(size, step, wide);
        round = hbf_fma(size, hbf_fma(codes, step, hbf_magnitude(from)), round);
    }
    shared->low[head][lane] = low, shared->wide[head][lane] = wide, shared->round[head][lane] = round;
    shared->most[head][lane] = most;
}

/* The unit of a head's integers, and one over it: powers of two, so that the largest weight is less than 2^14 of them.  What
 * is less than 2^-100 is little enough to be 0. */
HBF_FUNCTION float sketch_unit_size(float most) {
    const uint32_t exponent = HBF_BITS(most) >> 23;
    return HBF_FLOAT((exponent < 27u ? 14u : exponent - 13u) << 23);
}
HBF_FUNCTION float sketch_units(float unit) {
    return HBF_FLOAT(0x7f000000u - HBF_BITS(unit));
}

/* The integer nearest to weight / unit, as two's complement; anything where the weight is no number. */
HBF_FUNCTION uint32_t sketch_integer(uint32_t weight_bits, float units) {
    return HBF_BITS(hbf_fma(HBF_FLOAT(weight_bits), units, 12582912.0f)) - 0x4b400000u;
}

HBF_FUNCTION float sketch_error(float wide, float round, float unit, sketch_shape shape) {
    const float codes = (float)((1u << shape.bits) - 1);
    const float rounding = hbf_mul(round, hbf_mul((float)(2 * shape.kv.head_dim + 64), HBF_FLOAT(0x34000000u))); /* 2^-23 */
    const float integers = hbf_fma(hbf_mul(unit, 0.5f), hbf_mul(codes, (float)shape.kv.head_dim), rounding);
    return hbf_fma(hbf_fma(wide, 0.5f, integers), hbf_magnitude(shape.kv.scale), HBF_FLOAT(0x37800000u)); /* 2^-16 */
}

/* A score of the sum of codes times integers. */
HBF_FUNCTION float sketch_of_sum(uint32_t sum, float unit, float low, float scale) {
    const float score = hbf_mul(hbf_fma((float)(int32_t)sum, unit, low), scale);
    return score < HBF_INFINITY ? score : HBF_INFINITY; /* NaN too */
}

HBF_FUNCTION uint32_t sketch_token(HBF_GLOBAL const uint8_t *codes, uint32_t token, HBF_LOCAL const uint32_t *weight,
                                   sketch_shape shape) {
    const uint32_t in_word = 32 / shape.bits, mask = (1u << shape.bits) - 1;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < shape.kv.head_dim; i += in_word) {
        uint32_t word = hbf_load32(codes + 4 * sketch_word_index(shape, token, i));
        for (uint32_t j = 0; j < in_word; ++j, word >>= shape.bits) sum += weight[i + j] * (word & mask);
    }
    return sum;
}

HBF_FUNCTION void sketch_score_phase(uint32_t phase, hbf_item item, HBF_GLOBAL uint8_t *sketches, HBF_GLOBAL uint8_t *table,
                                     HBF_GLOBAL uint8_t *query, HBF_GLOBAL uint8_t *result, sketch_score_arguments arguments,
                                     HBF_LOCAL sketch_score_local *shared) {
    const sketch_shape shape = arguments.shape;
    const sketch_unit unit =
        sketch_unit_of(item.group + (uint64_t)(phase / HBF_SKETCH_PHASES) * item.groups, table, arguments);
    const uint32_t padded = (unit.tokens + 15) / 16 * 16, step = phase % HBF_SKETCH_PHASES;
    HBF_GLOBAL const uint8_t *const sketch = sketches + unit.offset;
    if (!unit.there) return;
    if (step == 0) { /* what depends on the channels only */
        for (uint32_t i = item.id; unit.tokens != 0 && i < unit.heads * 16; i += item.group_size)
            sketch_weigh(sketch, query + 4 * (uint64_t)(unit.head + i / 16) * shape.kv.head_dim, i / 16, i % 16, shape,
                         shared);
    } else if (step == 1) {
        for (uint32_t i = item.id; unit.tokens != 0 && i < unit.heads * shape.kv.head_dim; i += item.group_size) {
            const uint32_t head = i / shape.kv.head_dim, channel = i % shape.kv.head_dim;
            const float units = sketch_units(sketch_unit_size(hbf_max16(shared->most[head])));
            shared->weight[head][channel] = sketch_integer(shared->weight[head][channel], units);
        }
    } else if (step == 2) { /* scores */
        for (uint32_t i = item.id; i < unit.heads * padded; i += item.group_size) {
            const uint32_t head = i / padded, token = i % padded;
            shared->score[head][token] =
                token < unit.tokens
                    ? sketch_of_sum(sketch_token(sketch + sketch_range_size(shape), token, shared->weight[head], shape),
                                    sketch_unit_size(hbf_max16(shared->most[head])), hbf_sum16(shared->low[head]),
                                    shape.kv.scale)
                    : -HBF_INFINITY;
        }
    } else if (step == 3) {
        for (uint32_t i = item.id; i < unit.heads * 16; i += item.group_size) {
            float max = -HBF_INFINITY;
            for (uint32_t token = i % 16; token < padded; token += 16)
                max = shared->score[i / 16][token] > max ? shared->score[i / 16][token] : max;
            shared->max[i / 16][i % 16] = max;
        }
    } else if (step == 4) {
        for (uint32_t i = item.id; i < unit.heads * 16; i += item.group_size) {
            const float max = hbf_max16(shared->max[i / 16]), base = max == -HBF_INFINITY ? 0.0f : max;
            float sum = 0;
            for (uint32_t token = i % 16; token < padded; token += 16)
                sum = hbf_add(sum, hbf_exp(hbf_add(shared->score[i / 16][token], -base)));
            shared->sum[i / 16][i % 16] = sum;
        }
    } else {
        for (uint32_t head = item.id; head < unit.heads; head += item.group_size) {
            const uint64_t at = 3 * (unit.slot + head);
            float max = hbf_max16(shared->max[head]), sum = hbf_sum16(shared->sum[head]), error = 0.0f;
            if (unit.tokens != 0)
                error = sketch_error(hbf_sum16(shared->wide[head]), hbf_sum16(shared->round[head]),
                                     sketch_unit_size(hbf_max16(shared->most[head])), shape);
            /* A largest score of -infinity is one that grew too large, for keys are finite here. */
            if (!unit.fits || (unit.tokens != 0 && !(error < HBF_INFINITY && max < HBF_INFINITY && max > -HBF_INFINITY)))
                max = HBF_INFINITY, sum = 1.0f, error = HBF_INFINITY;
            hbf_store_float(result, at, hbf_add(max, 0.0f));
            hbf_store_float(result, at + 1, sum);
            hbf_store_float(result, at + 2, error);
        }
    }
}

HBF_PHASED_KERNEL(sketch_score, 4)

#ifdef HBF_ON_HOST
template <class Sample>
void sketch_score_sample(Sample &sample) {
    /* Three blocks of 32 tokens, of which 32, 5 and 0 are there; two query heads a KV head. */
    const sketch_shape shape = {{4, 2, 32, 32, HBF_ELEMENT_FP16, 0.18f}, 4, 0};
    const uint32_t size = (uint32_t)sketch_block_size(shape);
    sample.halves(3 * size / 2), sample.list({0, 0, 32, 0, size, 0, 5, 0, 2 * size, 0, 0, 0});
    sample.reals(4 * 32), sample.random(3 * 4 * 3 * 4);
    sample.arguments(sketch_score_arguments{3 * size, shape, 3, 0});
}
#endif

HBF_DEVICE_END

#endif
