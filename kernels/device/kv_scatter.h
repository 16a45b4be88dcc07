/* SPDX-License-Identifier: Apache-2.0 */
/* Scatters packed pieces (buffer 2) to the blocks of a list (buffer 1) in a pool (buffer 0), and notes for each whether it
 * was there (buffer 3).  A block that is listed twice ends with either's bytes, word by word. */
#ifndef HBF_DEVICE_KV_SCATTER_H
#define HBF_DEVICE_KV_SCATTER_H

#include "kv_blocks.h"

HBF_DEVICE_BEGIN

typedef kv_blocks kv_scatter_arguments;

HBF_FUNCTION void kv_scatter_item(hbf_item item, HBF_GLOBAL uint8_t *pool, HBF_GLOBAL uint8_t *list,
                                  HBF_GLOBAL uint8_t *packed, HBF_GLOBAL uint8_t *outcome, kv_scatter_arguments arguments) {
    kv_move(item, pool, list, packed, outcome, arguments, 1);
}

HBF_KERNEL(kv_scatter, 4)

#ifdef HBF_ON_HOST
template <class Sample>
void kv_scatter_sample(Sample &sample) {
    sample.random(6 * 2 * 48), sample.list({5, 0, 6, 3}), sample.random(4 * 2 * 40), sample.random(16);
    sample.arguments(kv_scatter_arguments{40, 48, 6 * 48, 2, 6, 4}); /* there is no block 6 */
}
#endif

HBF_DEVICE_END

#endif
