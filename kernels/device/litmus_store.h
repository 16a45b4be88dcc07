/* SPDX-License-Identifier: Apache-2.0 */
/* An agent that stores: the bytes of one generation into buffer 0.  Who sees them once the launch has completed, and after
 * what flush or invalidate, is the question. */
#ifndef HBF_DEVICE_LITMUS_STORE_H
#define HBF_DEVICE_LITMUS_STORE_H

#include "portable.h"

HBF_DEVICE_BEGIN

typedef struct litmus_store_arguments {
    uint64_t begin, size; /* bytes of buffer 0: any */
    uint64_t generation;
    uint64_t place; /* of the first of these bytes: byte i is hash(place + i) + 37 * generation */
} litmus_store_arguments;

HBF_FUNCTION uint8_t litmus_store_byte(uint64_t generation, uint64_t place) {
    uint64_t hash = place * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
    return (uint8_t)(hash + generation * 37);
}

HBF_FUNCTION void litmus_store_item(hbf_item item, HBF_GLOBAL uint8_t *bytes, litmus_store_arguments arguments) {
    volatile HBF_GLOBAL uint8_t *const to = bytes + arguments.begin;
    for (uint64_t i = hbf_first(item); i < arguments.size; i += hbf_step(item))
        to[i] = litmus_store_byte(arguments.generation, arguments.place + i);
}

HBF_KERNEL(litmus_store, 1)

#ifdef HBF_ON_HOST
template <class Sample>
void litmus_store_sample(Sample &sample) {
    sample.random(1000);
    sample.arguments(litmus_store_arguments{3, 990, 7, 4096});
}
#endif

HBF_DEVICE_END

#endif
