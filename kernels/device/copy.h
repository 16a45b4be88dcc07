/* SPDX-License-Identifier: Apache-2.0 */
/* Copies buffer 0 to buffer 1, which do not overlap. */
#ifndef HBF_DEVICE_COPY_H
#define HBF_DEVICE_COPY_H

#include "portable.h"

HBF_DEVICE_BEGIN

typedef struct copy_arguments {
    uint64_t size; /* bytes, any number */
} copy_arguments;

HBF_FUNCTION void copy_item(hbf_item item, HBF_GLOBAL uint8_t *src, HBF_GLOBAL uint8_t *dst, copy_arguments arguments) {
    const uint64_t words = arguments.size / 8, step = item.group_size;
    const hbf_share share = hbf_share_of(item, words);
    uint64_t i = share.begin + item.id;
    for (; i + 3 * step < share.end; i += 4 * step) { /* four loads under way at once */
        const uint64_t a = hbf_load64(src + 8 * i), b = hbf_load64(src + 8 * (i + step)),
                       c = hbf_load64(src + 8 * (i + 2 * step)), d = hbf_load64(src + 8 * (i + 3 * step));
        hbf_store64(dst + 8 * i, a);
        hbf_store64(dst + 8 * (i + step), b);
        hbf_store64(dst + 8 * (i + 2 * step), c);
        hbf_store64(dst + 8 * (i + 3 * step), d);
    }
    for (; i < share.end; i += step) hbf_store64(dst + 8 * i, hbf_load64(src + 8 * i));
    for (i = 8 * words + hbf_first(item); i < arguments.size; i += hbf_step(item)) dst[i] = src[i];
}

HBF_KERNEL(copy, 2)

#ifdef HBF_ON_HOST
template <class Sample>
void copy_sample(Sample &sample) {
    sample.random(4104), sample.random(4104);
    sample.arguments(copy_arguments{4099});
}
#endif

HBF_DEVICE_END

#endif
