/* SPDX-License-Identifier: Apache-2.0 */
/* How attention wants keys and values to lie in memory, on the host and on devices alike.
 *
 * A block holds up to C tokens (C = block_tokens) of one layer.  KV head after KV head stand its keys, then its values, D
 * numbers a token (D = head_dim), 2 * C * D numbers together:
 *
 *   keys    tiles of 16 tokens, in each tile channel after channel:   ((token / 16) * D + channel) * 16 + token % 16
 *   values  panels of 16 channels, in each panel token after token:   ((channel / 16) * C + token) * 16 + channel % 16
 *
 * So both products of attention are the same loop: a row of 16 neighbours, times one number, onto 16 sums.  What lies at
 * tokens that a block has not got yet is never used, whatever its bits are.
 *
 * Query head h uses KV head h / (query_heads / kv_heads). */
#ifndef HBF_DEVICE_ATTENTION_LAYOUT_H
#define HBF_DEVICE_ATTENTION_LAYOUT_H

#include "float32.h"

HBF_DEVICE_BEGIN

#define HBF_KV_TILE 16u
#define HBF_KV_MAX_TOKENS 256u
#define HBF_KV_MAX_DIM 256u
#define HBF_KV_MAX_HEADS 1024u

typedef struct kv_block {
    uint64_t offset; /* bytes from the start of the buffer, a multiple of 8 (of 64 is faster) */
    uint32_t tokens; /* 0..block_tokens */
    uint32_t reserved;
} kv_block;

typedef struct kv_shape {
    uint32_t query_heads;  /* a multiple of kv_heads, up to 1024 */
    uint32_t kv_heads;     /* >= 1 */
    uint32_t head_dim;     /* a multiple of 16, up to 256 */
    uint32_t block_tokens; /* a multiple of 16, up to 256 */
    uint32_t element;      /* HBF_ELEMENT_*: how keys and values are stored */
    float scale;           /* of a score, mostly 1 / sqrt(head_dim) */
} kv_shape;

HBF_FUNCTION uint64_t kv_key_index(kv_shape shape, uint32_t kv_head, uint32_t token, uint32_t channel) {
    return (uint64_t)kv_head * 2 * shape.block_tokens * shape.head_dim +
           ((uint64_t)(token / HBF_KV_TILE) * shape.head_dim + channel) * HBF_KV_TILE + token % HBF_KV_TILE;
}
HBF_FUNCTION uint64_t kv_value_index(kv_shape shape, uint32_t kv_head, uint32_t token, uint32_t channel) {
    return ((uint64_t)kv_head * 2 + 1) * shape.block_tokens * shape.head_dim +
           ((uint64_t)(channel / HBF_KV_TILE) * shape.block_tokens + token) * HBF_KV_TILE + channel % HBF_KV_TILE;
}

/* Bytes of a block. */
HBF_FUNCTION uint64_t kv_block_size(kv_shape shape) {
    return (uint64_t)2 * shape.kv_heads * shape.block_tokens * shape.head_dim * hbf_element_size(shape.element);
}

/* Which member is out of its range: 0 none, else its number, from query_heads = 1 on.  A kernel writes nothing then. */
HBF_FUNCTION uint32_t kv_shape_refused(kv_shape shape) {
    if (shape.kv_heads == 0) return 2;
    if (shape.query_heads == 0 || shape.query_heads > HBF_KV_MAX_HEADS || shape.query_heads % shape.kv_heads != 0) return 1;
    if (shape.head_dim == 0 || shape.head_dim > HBF_KV_MAX_DIM || shape.head_dim % 16 != 0) return 3;
    if (shape.block_tokens == 0 || shape.block_tokens > HBF_KV_MAX_TOKENS || shape.block_tokens % HBF_KV_TILE != 0) return 4;
    return shape.element >= HBF_ELEMENT_COUNT ? 5 : 0;
}

/* An entry of the table can be read: what it names lies in the buffer, with no more tokens than there is room for. */
HBF_FUNCTION uint32_t kv_block_fits(uint64_t offset, uint32_t tokens, kv_shape shape, uint64_t block_size,
                                    uint64_t buffer_size) {
    return tokens <= shape.block_tokens && offset % 8 == 0 && block_size <= buffer_size &&
           offset <= buffer_size - block_size;
}

HBF_DEVICE_END

#endif
