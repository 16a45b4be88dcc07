/* SPDX-License-Identifier: Apache-2.0 */
/* An agent that loads: the bytes of buffer 0 as the device's own loads see them, to buffer 1. */
#ifndef HBF_DEVICE_LITMUS_LOAD_H
#define HBF_DEVICE_LITMUS_LOAD_H

#include "portable.h"

HBF_DEVICE_BEGIN

typedef struct litmus_load_arguments {
    uint64_t begin, size; /* bytes, in both buffers: any */
} litmus_load_arguments;

HBF_FUNCTION void litmus_load_item(hbf_item item, HBF_GLOBAL uint8_t *bytes, HBF_GLOBAL uint8_t *seen,
                                   litmus_load_arguments arguments) {
    volatile HBF_GLOBAL uint8_t *const from = bytes + arguments.begin;
    for (uint64_t i = hbf_first(item); i < arguments.size; i += hbf_step(item)) seen[arguments.begin + i] = from[i];
}

HBF_KERNEL(litmus_load, 2)

#ifdef HBF_ON_HOST
template <class Sample>
void litmus_load_sample(Sample &sample) {
    sample.random(1000), sample.random(1000);
    sample.arguments(litmus_load_arguments{3, 990});
}
#endif

HBF_DEVICE_END

#endif
