/* SPDX-License-Identifier: Apache-2.0 */
/* Partial attention of each query head over each block of keys and values, where the block lies: m, the largest score; l,
 * the sum of the weights exp(score - m); o, the values times their weights, not divided by l.  attention_merge.h puts blocks
 * together exactly.
 *
 * Buffer 0: the blocks, as attention_layout.h describes.  1: block_count kv_blocks.  2: the query, fp32, head after head.
 * 3: m and l, fp32, for each block and head.  4: o, head_dim fp32 numbers, for each block and head.
 *
 * A block without tokens is m = -infinity, l = 0, o = 0, and so is one whose scores are all -infinity.  A score that is NaN
 * or +infinity makes m, l and all of o NaN, for its head of its block only; so does a table entry that does not fit into the
 * buffer, for all heads, and nothing of it is read.  Infinities and NaN among the values reach their column of o by IEEE
 * 754; a weight below exp(-87) is 0, and 0 times infinity is NaN.
 *
 * Scores add up either half of the channels in order, then both halves; weights each sixteenth token in order, then the 16
 * sums by halves; o all tokens in order. */
#ifndef HBF_DEVICE_ATTENTION_H
#define HBF_DEVICE_ATTENTION_H

#include "attention_layout.h"

HBF_DEVICE_BEGIN

typedef struct attention_arguments {
    uint64_t kv_size; /* bytes of buffer 0 */
    kv_shape shape;
    uint32_t block_count;
    uint32_t reserved;
} attention_arguments;

#define HBF_ATTENTION_HEADS 4u /* query heads of one KV head that a group takes at a time */

typedef struct attention_local {
    float weight[HBF_ATTENTION_HEADS][HBF_KV_MAX_TOKENS]; /* scores first */
    float max[HBF_ATTENTION_HEADS][16], sum[HBF_ATTENTION_HEADS][16];
} attention_local;

/* One block for some heads: a group's work between the first and the last of its phases. */
typedef struct attention_unit {
    uint32_t there; /* 0: past the end */
    uint32_t fits;
    uint64_t offset; /* of the block */
    uint32_t tokens, head, heads, kv_head;
    uint64_t slot; /* of the first head in what is written */
} attention_unit;

#define HBF_ATTENTION_PHASES 5u

HBF_FUNCTION uint32_t attention_chunks(kv_shape shape) { /* of the query heads of a KV head */
    return (shape.query_heads / shape.kv_heads + HBF_ATTENTION_HEADS - 1) / HBF_ATTENTION_HEADS;
}

HBF_FUNCTION uint32_t attention_phases(hbf_item item, attention_arguments arguments) {
    if (kv_shape_refused(arguments.shape)) return 0;
    const uint64_t units = (uint64_t)arguments.block_count * arguments.shape.kv_heads * attention_chunks(arguments.shape);
    return HBF_ATTENTION_PHASES * (uint32_t)((units + item.groups - 1) / item.groups);
}

HBF_FUNCTION attention_unit attention_unit_of(uint64_t number, HBF_GLOBAL const uint8_t *table,
                                              attention_arguments arguments) {
    const kv_shape shape = arguments.shape;
    const uint32_t chunks = attention_chunks(shape), shared = shape.query_heads / shape.kv_heads;
    const uint64_t block = number / chunks / shape.kv_heads;
    attention_unit unit;
    unit.there = block < arguments.block_count;
    const uint64_t entry = sizeof(kv_block) * (unit.there ? block : 0);
    unit.offset = hbf_load64(table + entry);
    unit.tokens = hbf_load32(table + entry + 8);
    unit.fits = kv_block_fits(unit.offset, unit.tokens, shape, kv_block_size(shape), arguments.kv_size);
    if (!unit.fits) unit.tokens = 0;
    unit.kv_head = (uint32_t)(number / chunks % shape.kv_heads);
    const uint32_t first = (uint32_t)(number % chunks) * HBF_ATTENTION_HEADS;
    unit.head = unit.kv_head * shared + first;
    unit.heads = shared - first < HBF_ATTENTION_HEADS ? shared - first : HBF_ATTENTION_HEADS;
    unit.slot = block * shape.query_heads + unit.head;
    return unit;
}

HBF_FUNCTION float attention_score(HBF_GLOBAL const uint8_t *block, uint32_t token, uint32_t kv_head,
                                   HBF_GLOBAL const uint8_t *query, kv_shape shape) {
    const uint64_t first = kv_key_index(shape, kv_head, token, 0);
    const uint32_t middle = shape.head_dim / 2;
    float low = 0, high = 0;
    for (uint32_t i = 0; i < middle; ++i) {
        low = hbf_fma(hbf_load_float(query, i), hbf_load_element(block, shape.element, first + i * HBF_KV_TILE), low);
        high = hbf_fma(hbf_load_float(query, middle + i),
                       hbf_load_element(block, shape.element, first + (middle + i) * HBF_KV_TILE), high);
    }
    const float score = hbf_mul(hbf_add(low, high), shape.scale);
    return score < HBF_INFINITY ? score : HBF_INFINITY; /* NaN too */
}

HBF_FUNCTION void attention_phase(uint32_t phase, hbf_item item, HBF_GLOBAL uint8_t *kv, HBF_GLOBAL uint8_t *table,
                                  HBF_GLOBAL uint8_t *query, HBF_GLOBAL uint8_t *state, HBF_GLOBAL uint8_t *output,
                                  attention_arguments arguments, HBF_LOCAL attention_local *shared) {
    const kv_shape shape = arguments.shape;
    const attention_unit unit =
        attention_unit_of(item.group + (uint64_t)(phase / HBF_ATTENTION_PHASES) * item.groups, table, arguments);
    const uint32_t padded = (unit.tokens + 15) / 16 * 16, step = phase % HBF_ATTENTION_PHASES;
    HBF_GLOBAL const uint8_t *const block = kv + (unit.fits ? unit.offset : 0);
    if (!unit.there) return;
    if (step == 0) { /* scores */
        for (uint32_t i = item.id; i < unit.heads * padded; i += item.group_size) {
            const uint32_t head = i / padded, token = i % padded;
            shared->weight[head][token] =
                token < unit.tokens ? attention_score(block, token, unit.kv_head,
                                                      query + 4 * (uint64_t)(unit.head + head) * shape.head_dim, shape)
                                    : -HBF_INFINITY;
        }
    } else if (step == 1) {
        for (uint32_t i = item.id; i < unit.heads * 16; i += item.group_size) {
            float max = unit.fits ? -HBF_INFINITY : HBF_INFINITY;
            for (uint32_t token = i % 16; token < padded; token += 16)
                max = shared->weight[i / 16][token] > max ? shared->weight[i / 16][token] : max;
            shared->max[i / 16][i % 16] = max;
        }
    } else if (step == 2) { /* weights */
        for (uint32_t i = item.id; i < unit.heads * padded; i += item.group_size) {
            const uint32_t head = i / padded, token = i % padded;
            const float max = hbf_max16(shared->max[head]), base = max == -HBF_INFINITY ? 0.0f : max;
            shared->weight[head][token] = hbf_exp(hbf_add(shared->weight[head][token], -base));
        }
    } else if (step == 3) {
        for (uint32_t i = item.id; i < unit.heads * 16; i += item.group_size) {
            float sum = 0;
            for (uint32_t token = i % 16; token < padded; token += 16) sum = hbf_add(sum, shared->weight[i / 16][token]);
            shared->sum[i / 16][i % 16] = sum;
        }
    } else { /* what is written */
        for (uint32_t i = item.id; i < unit.heads * shape.head_dim; i += item.group_size) {
            const uint32_t head = i / shape.head_dim, channel = i % shape.head_dim;
            const float max = hbf_max16(shared->max[head]);
            const uint64_t first = kv_value_index(shape, unit.kv_head, 0, channel);
            float sum = max == HBF_INFINITY ? HBF_NAN : 0.0f;
            for (uint32_t token = 0; token < unit.tokens; ++token)
                sum = hbf_fma(shared->weight[head][token],
                              hbf_load_element(block, shape.element, first + token * HBF_KV_TILE), sum);
            hbf_store_float(output, (unit.slot + head) * shape.head_dim + channel, sum);
            if (channel != 0) continue;
            hbf_store_float(state, 2 * (unit.slot + head), max == HBF_INFINITY ? HBF_NAN : hbf_add(max, 0.0f));
            hbf_store_float(state, 2 * (unit.slot + head) + 1, max == HBF_INFINITY ? HBF_NAN : hbf_sum16(shared->sum[head]));
        }
    }
}

HBF_PHASED_KERNEL(attention, 5)

#ifdef HBF_ON_HOST
template <class Sample>
void attention_sample(Sample &sample) {
    /* Three blocks of 32 tokens, of which 32, 5 and 0 are there; two query heads a KV head. */
    const kv_shape shape = {4, 2, 32, 32, HBF_ELEMENT_FP16, 0.18f};
    const uint32_t size = (uint32_t)kv_block_size(shape);
    sample.halves(3 * size / 2), sample.list({0, 0, 32, 0, size, 0, 5, 0, 2 * size, 0, 0, 0});
    sample.reals(4 * 32), sample.random(3 * 4 * 8), sample.random(3 * 4 * 32 * 4);
    sample.arguments(attention_arguments{3 * size, shape, 3, 0});
}
#endif

HBF_DEVICE_END

#endif
