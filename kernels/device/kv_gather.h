/* SPDX-License-Identifier: Apache-2.0 */
/* Gathers the blocks of a list (buffer 1) from a pool (buffer 0) into packed pieces (buffer 2), and notes for each whether
 * it was there (buffer 3). */
#ifndef HBF_DEVICE_KV_GATHER_H
#define HBF_DEVICE_KV_GATHER_H

#include "kv_blocks.h"

HBF_DEVICE_BEGIN

typedef kv_blocks kv_gather_arguments;

HBF_FUNCTION void kv_gather_item(hbf_item item, HBF_GLOBAL uint8_t *pool, HBF_GLOBAL uint8_t *list,
                                 HBF_GLOBAL uint8_t *packed, HBF_GLOBAL uint8_t *outcome, kv_gather_arguments arguments) {
    kv_move(item, pool, list, packed, outcome, arguments, 0);
}

HBF_KERNEL(kv_gather, 4)

#ifdef HBF_ON_HOST
template <class Sample>
void kv_gather_sample(Sample &sample) {
    sample.random(6 * 2 * 48), sample.list({5, 0, 6, 3}), sample.random(4 * 2 * 40), sample.random(16);
    sample.arguments(kv_gather_arguments{40, 48, 6 * 48, 2, 6, 4}); /* there is no block 6 */
}
#endif

HBF_DEVICE_END

#endif
