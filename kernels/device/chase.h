/* SPDX-License-Identifier: Apache-2.0 */
/* Follows a chain of links through buffer 0: the time of a step is the memory's latency.  A link is 8 bytes, the byte offset
 * of the next one.  Work-item i follows a chain of its own, if there are as many, and writes chase_result i to buffer 1. */
#ifndef HBF_DEVICE_CHASE_H
#define HBF_DEVICE_CHASE_H

#include "portable.h"

HBF_DEVICE_BEGIN

typedef struct chase_arguments {
    uint64_t size;   /* bytes of buffer 0: a link that leads outside, or to no multiple of 8, ends its chain */
    uint64_t first;  /* where chain 0 begins, byte offset */
    uint64_t apart;  /* bytes from the beginning of a chain to that of the next */
    uint64_t steps;  /* of each chain */
    uint64_t chains; /* 1 for latency; more than there are work-items are taken in turn */
} chase_arguments;

typedef struct chase_result {
    uint64_t end;   /* the offset that was reached, or the link that leads nowhere */
    uint64_t steps; /* done: fewer than asked for, and the chain is broken */
} chase_result;

HBF_FUNCTION void chase_item(hbf_item item, HBF_GLOBAL uint8_t *links, HBF_GLOBAL uint8_t *out, chase_arguments arguments) {
    for (uint64_t chain = hbf_first(item); chain < arguments.chains; chain += hbf_step(item)) {
        uint64_t at = arguments.first + chain * arguments.apart, steps = 0;
        while (steps < arguments.steps && at % 8 == 0 && at < arguments.size && arguments.size - at >= 8) {
            at = hbf_load64(links + at);
            ++steps;
        }
        hbf_store64(out + 16 * chain, at);
        hbf_store64(out + 16 * chain + 8, steps);
    }
}

HBF_KERNEL(chase, 2)

#ifdef HBF_ON_HOST
template <class Sample>
void chase_sample(Sample &sample) {
    sample.list({40, 0, 16, 0, 0, 0, 8, 0, 48, 0, 24, 0, 0, 0, 56, 0}); /* the link at 56 is its own end */
    sample.random(3 * sizeof(chase_result));
    sample.arguments(chase_arguments{64, 0, 24, 1000, 3});
}
#endif

HBF_DEVICE_END

#endif
