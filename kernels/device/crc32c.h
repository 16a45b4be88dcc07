/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-32C of buffer 0, a 32-bit word for each 64 KiB piece (the last may be shorter) to buffer 1.
 *
 * A group takes a piece at a time, and its work-items every n-th word of it, counted so that the last word is the last
 * item's: neighbours read neighbours.  An item's steps append the n - 1 words of the others as zeros, by tables; what its
 * last word lacks of them is one multiplication.  A CRC is linear, so the items' results add up, by exclusive or. */
#ifndef HBF_DEVICE_CRC32C_H
#define HBF_DEVICE_CRC32C_H

#include "gf2.h"
#include "portable.h"

HBF_DEVICE_BEGIN

#define HBF_CRC32C_PIECE 65536u
#define HBF_CRC32C_ITEMS 256u /* of a group that work */

typedef struct crc32c_arguments {
    uint64_t size; /* bytes, any number */
} crc32c_arguments;

typedef struct crc32c_local {
    uint32_t table[8][256];           /* byte i of a word, times x^(8 * bytes that follow up to this item's next word) */
    uint32_t power[HBF_CRC32C_ITEMS]; /* x^(8 * bytes after the item's last word) */
    uint32_t crc[2];                  /* of this piece and of the one before, which is being written */
} crc32c_local;

HBF_PURE uint64_t crc32c_pieces(hbf_item item, crc32c_arguments arguments) { /* of the group */
    const uint64_t all = (arguments.size + HBF_CRC32C_PIECE - 1) / HBF_CRC32C_PIECE;
    return all > item.group ? (all - item.group + item.groups - 1) / item.groups : 0;
}

HBF_FUNCTION uint32_t crc32c_phases(hbf_item item, crc32c_arguments arguments) {
    return (uint32_t)crc32c_pieces(item, arguments) + 2;
}

HBF_FUNCTION void crc32c_prepare(hbf_item item, uint32_t items, HBF_LOCAL crc32c_local *shared) {
    uint32_t shift = gf2_power(64 * (uint64_t)items - 56);
    for (uint32_t byte = 8; byte-- > 0;) {
        for (uint32_t value = item.id; value < 256; value += items) shared->table[byte][value] = gf2_multiply(value, shift);
        for (uint32_t bit = 0; bit < 8; ++bit) shift = gf2_times_x(shift);
    }
    shared->power[item.id] = gf2_power(64 * (uint64_t)(items - 1 - item.id));
    if (item.id == 0) shared->crc[0] = shared->crc[1] = 0;
}

/* The item's share of the CRC of `size` bytes, a multiple of 8. */
HBF_FUNCTION uint32_t crc32c_share(hbf_item item, uint32_t items, HBF_GLOBAL const uint8_t *src, uint32_t size,
                                   HBF_LOCAL crc32c_local *shared) {
    const uint32_t words = size / 8, last = items - 1 - item.id; /* words after the item's last one */
    if (words <= last) return 0;
    uint32_t crc = 0;
    for (uint32_t i = (words - 1 - last) % items; i + last < words; i += items) {
        uint64_t word = hbf_load64(src + 8 * (uint64_t)i) ^ crc;
        if (i == 0) word ^= 0xFFFFFFFFu;
        if (i + last + 1 < words) {
            crc = 0;
            for (uint32_t byte = 0; byte < 8; ++byte) crc ^= shared->table[byte][word >> (8 * byte) & 255];
        } else {
            crc = (uint32_t)word;
            for (uint32_t bit = 0; bit < 32; ++bit) crc = gf2_times_x(crc);
            crc ^= (uint32_t)(word >> 32);
            for (uint32_t bit = 0; bit < 32; ++bit) crc = gf2_times_x(crc);
        }
    }
    return gf2_multiply(crc, shared->power[item.id]);
}

/* Bytes that make no word, then the inversion. */
HBF_FUNCTION uint32_t crc32c_finish(uint32_t crc, HBF_GLOBAL const uint8_t *src, uint32_t size) {
    if (size < 8) crc = 0xFFFFFFFFu;
    for (uint32_t i = size & ~7u; i < size; ++i) {
        crc ^= src[i];
        for (uint32_t bit = 0; bit < 8; ++bit) crc = gf2_times_x(crc);
    }
    return ~crc;
}

HBF_FUNCTION void crc32c_phase(uint32_t phase, hbf_item item, HBF_GLOBAL uint8_t *src, HBF_GLOBAL uint8_t *out,
                               crc32c_arguments arguments, HBF_LOCAL crc32c_local *shared) {
    const uint32_t items = item.group_size < HBF_CRC32C_ITEMS ? item.group_size : HBF_CRC32C_ITEMS;
    if (item.id >= items) return;
    if (phase == 0) {
        crc32c_prepare(item, items, shared);
        return;
    }
    const uint32_t turn = phase - 1, mine = phase & 1;
    const uint64_t piece = item.group + (uint64_t)turn * item.groups, at = piece * HBF_CRC32C_PIECE;
    if (item.id == 0 && turn > 0) { /* the one before is complete */
        const uint64_t before = piece - item.groups, left = arguments.size - before * HBF_CRC32C_PIECE;
        const uint32_t size = left < HBF_CRC32C_PIECE ? (uint32_t)left : HBF_CRC32C_PIECE;
        hbf_store32(out + 4 * before, crc32c_finish(shared->crc[mine ^ 1], src + before * HBF_CRC32C_PIECE, size));
        shared->crc[mine ^ 1] = 0;
    }
    if (at >= arguments.size) return;
    const uint64_t left = arguments.size - at;
    const uint32_t size = left < HBF_CRC32C_PIECE ? (uint32_t)left : HBF_CRC32C_PIECE;
    hbf_local_xor(&shared->crc[mine], crc32c_share(item, items, src + at, size, shared));
}

HBF_PHASED_KERNEL(crc32c, 2)

#ifdef HBF_ON_HOST
template <class Sample>
void crc32c_sample(Sample &sample) {
    sample.random(3 * 65536 + 16), sample.random(24);
    sample.arguments(crc32c_arguments{3 * 65536 + 13});
}
#endif

HBF_DEVICE_END

#endif
