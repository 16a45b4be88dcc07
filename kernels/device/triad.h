/* SPDX-License-Identifier: Apache-2.0 */
/* STREAM's triad, a = b + scalar * c: buffers 0, 1, 2.  On unsigned 32-bit integers, so that every result can be checked bit
 * for bit on every device; what is measured is the way to memory. */
#ifndef HBF_DEVICE_TRIAD_H
#define HBF_DEVICE_TRIAD_H

#include "portable.h"

HBF_DEVICE_BEGIN

typedef struct triad_arguments {
    uint64_t size;   /* bytes of each buffer, a multiple of 8 */
    uint32_t scalar; /* arithmetic is modulo 2^32 */
    uint32_t reserved;
} triad_arguments;

HBF_PURE uint64_t triad_pair(uint64_t b, uint64_t c, uint32_t scalar) { /* two at a time */
    const uint32_t low = (uint32_t)b + scalar * (uint32_t)c, high = (uint32_t)(b >> 32) + scalar * (uint32_t)(c >> 32);
    return low | (uint64_t)high << 32;
}

HBF_FUNCTION void triad_item(hbf_item item, HBF_GLOBAL uint8_t *a, HBF_GLOBAL uint8_t *b, HBF_GLOBAL uint8_t *c,
                             triad_arguments arguments) {
    const hbf_share share = hbf_share_of(item, arguments.size / 8);
    for (uint64_t i = share.begin + item.id; i < share.end; i += item.group_size)
        hbf_store64(a + 8 * i, triad_pair(hbf_load64(b + 8 * i), hbf_load64(c + 8 * i), arguments.scalar));
}

HBF_KERNEL(triad, 3)

#ifdef HBF_ON_HOST
template <class Sample>
void triad_sample(Sample &sample) {
    sample.random(4008), sample.random(4008), sample.random(4008);
    sample.arguments(triad_arguments{4000, 0x80000003u, 0});
}
#endif

HBF_DEVICE_END

#endif
