/* SPDX-License-Identifier: Apache-2.0 */
/* A pool of KV blocks as attention engines keep them, and lists of blocks in it.  A block has parts at equal distances (its
 * keys and its values, or those of each layer), each one piece of bytes: piece (block, part) is at block * block_stride +
 * part * part_stride.  Gathered, pieces follow each other, all parts of the first listed block first. */
#ifndef HBF_DEVICE_KV_BLOCKS_H
#define HBF_DEVICE_KV_BLOCKS_H

#include "portable.h"

HBF_DEVICE_BEGIN

typedef struct kv_blocks {
    uint64_t piece_size;   /* bytes, a multiple of 8, as strides are */
    uint64_t block_stride; /* bytes from a block to the next */
    uint64_t part_stride;  /* bytes from a part of a block to its next */
    uint32_t parts;        /* of a block */
    uint32_t blocks;       /* in the pool: a number not below this is refused */
    uint64_t count;        /* of listed blocks */
} kv_blocks;

#define HBF_KV_REFUSED 0u /* no such block in the pool: nothing was moved */
#define HBF_KV_MOVED 1u

/* Offset in the pool. */
HBF_PURE uint64_t kv_piece(kv_blocks layout, uint64_t block, uint64_t part) {
    return block * layout.block_stride + part * layout.part_stride;
}

/* Moves the listed blocks between pool and packed pieces, and notes what became of each: a 32-bit word for each list entry,
 * which is a 32-bit word too. */
HBF_FUNCTION void kv_move(hbf_item item, HBF_GLOBAL uint8_t *pool, HBF_GLOBAL uint8_t *list, HBF_GLOBAL uint8_t *packed,
                          HBF_GLOBAL uint8_t *outcome, kv_blocks layout, uint32_t to_pool) {
    const uint64_t words = layout.piece_size / 8, pieces = layout.count * layout.parts;
    for (uint64_t i = hbf_first(item); i < layout.count; i += hbf_step(item))
        hbf_store32(outcome + 4 * i, hbf_load32(list + 4 * i) < layout.blocks ? HBF_KV_MOVED : HBF_KV_REFUSED);
    /* A group takes whole pieces, its items the words in turn: neighbours touch neighbours. */
    for (uint64_t piece = item.group; piece < pieces; piece += item.groups) {
        const uint32_t block = hbf_load32(list + 4 * (piece / layout.parts));
        if (block >= layout.blocks) continue;
        HBF_GLOBAL uint8_t *const far = pool + kv_piece(layout, block, piece % layout.parts);
        HBF_GLOBAL uint8_t *const near = packed + piece * layout.piece_size;
        HBF_GLOBAL uint8_t *const src = to_pool ? near : far, *const dst = to_pool ? far : near;
        for (uint64_t word = item.id; word < words; word += item.group_size)
            hbf_store64(dst + 8 * word, hbf_load64(src + 8 * word));
    }
}

HBF_DEVICE_END

#endif
