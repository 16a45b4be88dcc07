/* SPDX-License-Identifier: Apache-2.0 */
/* Sketches of keys: a few bits for each channel of each token, from which a block's scores are known within a bound.
 *
 * A block of up to C tokens has, for each of D channels of a KV head, the smallest key `low` and a step; a code c stands for
 * low + c * step, never farther than step / 2 from the key.  KV head after KV head stand
 *
 *   low     D numbers, stored as keys are (low is one of them, so it is exact)
 *   step    D numbers, stored likewise, rounded up; infinity where a key is NaN or infinite: nothing is known then
 *   codes   tiles of 16 tokens, in each 32-bit words of 16 tokens after each other; a word holds 32 / bits channels of one
 *           token, the first in the lowest bits:  word ((token / 16) * D * bits / 32 + channel / (32 / bits)) * 16 + token %
 * 16
 *
 * For fp16 and 4 bits that is 4.5 KiB for 64 tokens of 128 channels, 14 % of keys and values. */
#ifndef HBF_DEVICE_SKETCH_LAYOUT_H
#define HBF_DEVICE_SKETCH_LAYOUT_H

#include "attention_layout.h"

HBF_DEVICE_BEGIN

typedef struct sketch_shape {
    kv_shape kv;
    uint32_t bits; /* of a code: 2, 4 or 8 */
    uint32_t reserved;
} sketch_shape;

HBF_FUNCTION uint32_t sketch_shape_refused(sketch_shape shape) { /* as kv_shape_refused; 6: bits */
    const uint32_t refused = kv_shape_refused(shape.kv);
    if (refused != 0) return refused;
    return shape.bits == 2 || shape.bits == 4 || shape.bits == 8 ? 0 : 6;
}

/* Bytes of low and step of a KV head, then of its codes; both are multiples of 64. */
HBF_FUNCTION uint64_t sketch_range_size(sketch_shape shape) {
    return (uint64_t)2 * shape.kv.head_dim * hbf_element_size(shape.kv.element);
}
HBF_FUNCTION uint64_t sketch_code_size(sketch_shape shape) {
    return (uint64_t)shape.kv.block_tokens * shape.kv.head_dim * shape.bits / 8;
}
HBF_FUNCTION uint64_t sketch_head_size(sketch_shape shape) {
    return sketch_range_size(shape) + sketch_code_size(shape);
}
HBF_FUNCTION uint64_t sketch_block_size(sketch_shape shape) {
    return shape.kv.kv_heads * sketch_head_size(shape);
}

/* The word of a head's codes that holds a token's channel. */
HBF_FUNCTION uint64_t sketch_word_index(sketch_shape shape, uint32_t token, uint32_t channel) {
    return ((uint64_t)(token / HBF_KV_TILE) * (shape.kv.head_dim * shape.bits / 32) + channel / (32 / shape.bits)) *
               HBF_KV_TILE +
           token % HBF_KV_TILE;
}

HBF_DEVICE_END

#endif
