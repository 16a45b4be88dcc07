/* SPDX-License-Identifier: Apache-2.0 */
/* Puts what attention.h says of several blocks together, exactly: m = max m_b; l and o the sums of l_b and o_b times
 * exp(m_b - m), in the blocks' order, so that the same blocks in the same order give the same bits.  The result is again
 * what attention.h writes for one block; attention over all of them is o / l, and 0 where l is 0.
 *
 * Buffer 0: m and l, fp32, for each block and head.  1: o, head_dim fp32 numbers, for each block and head.  2, 3: the same
 * of the whole, a head each.  Blocks with m = -infinity are passed over; one with NaN for m or l makes its head's m, l, o
 * NaN. */
#ifndef HBF_DEVICE_ATTENTION_MERGE_H
#define HBF_DEVICE_ATTENTION_MERGE_H

#include "float32.h"

HBF_DEVICE_BEGIN

typedef struct attention_merge_arguments {
    uint32_t block_count;
    uint32_t query_heads;
    uint32_t head_dim; /* a multiple of 16, else nothing is written */
    uint32_t reserved;
} attention_merge_arguments;

/* The largest m, +infinity where one is NaN or its l is. */
HBF_FUNCTION float attention_merge_max(HBF_GLOBAL const uint8_t *state, uint32_t head, attention_merge_arguments arguments) {
    float max = -HBF_INFINITY;
    for (uint32_t b = 0; b < arguments.block_count; ++b) {
        const uint64_t at = 2 * ((uint64_t)b * arguments.query_heads + head);
        const float m = hbf_load_float(state, at), l = hbf_load_float(state, at + 1);
        if (!(m < HBF_INFINITY) || l != l) return HBF_INFINITY;
        max = m > max ? m : max;
    }
    return max;
}

HBF_FUNCTION void attention_merge_item(hbf_item item, HBF_GLOBAL uint8_t *state, HBF_GLOBAL uint8_t *output,
                                       HBF_GLOBAL uint8_t *merged_state, HBF_GLOBAL uint8_t *merged_output,
                                       attention_merge_arguments arguments) {
    const uint64_t columns = arguments.head_dim % 16 != 0 ? 0 : (uint64_t)arguments.query_heads * arguments.head_dim;
    for (uint64_t i = hbf_first(item); i < columns; i += hbf_step(item)) {
        const uint32_t head = (uint32_t)(i / arguments.head_dim), channel = (uint32_t)(i % arguments.head_dim);
        const float max = attention_merge_max(state, head, arguments);
        float sum = 0, o = 0;
        for (uint32_t b = 0; b < arguments.block_count && max < HBF_INFINITY; ++b) {
            const uint64_t slot = (uint64_t)b * arguments.query_heads + head;
            const float m = hbf_load_float(state, 2 * slot);
            if (m == -HBF_INFINITY) continue;
            const float weight = hbf_exp(hbf_add(m, -max));
            sum = hbf_fma(hbf_load_float(state, 2 * slot + 1), weight, sum);
            o = hbf_fma(hbf_load_float(output, slot * arguments.head_dim + channel), weight, o);
        }
        hbf_store_float(merged_output, i, max < HBF_INFINITY ? o : HBF_NAN);
        if (channel != 0) continue;
        hbf_store_float(merged_state, 2 * (uint64_t)head, max < HBF_INFINITY ? hbf_add(max, 0.0f) : HBF_NAN);
        hbf_store_float(merged_state, 2 * (uint64_t)head + 1, max < HBF_INFINITY ? sum : HBF_NAN);
    }
}

HBF_KERNEL(attention_merge, 4)

#ifdef HBF_ON_HOST
template <class Sample>
void attention_merge_sample(Sample &sample) {
    sample.reals(3 * 4 * 2), sample.reals(3 * 4 * 32), sample.random(4 * 8), sample.random(4 * 32 * 4);
    sample.arguments(attention_merge_arguments{3, 4, 32, 0});
}
#endif

HBF_DEVICE_END

#endif
