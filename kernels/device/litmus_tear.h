/* SPDX-License-Identifier: Apache-2.0 */
/* One work-item stores 8-byte words of buffer 0 whose halves are alike, or loads them and counts those of which they are
 * not, in buffer 1, while the host does the other. */
#ifndef HBF_DEVICE_LITMUS_TEAR_H
#define HBF_DEVICE_LITMUS_TEAR_H

#include "litmus_atomics.h"

HBF_DEVICE_BEGIN

typedef struct litmus_tear_arguments {
    uint32_t words, turns; /* each word is touched once a turn */
    uint32_t stores;       /* 1; else it loads */
    uint32_t split;        /* stores: a half at a time, the control */
    uint32_t scope;        /* HBF_LITMUS_DEVICE or HBF_LITMUS_SYSTEM */
    uint32_t value;        /* of the first turn's words */
} litmus_tear_arguments;

typedef struct litmus_tear_result {
    uint64_t lacks;  /* HBF_LITMUS_NO_* bits: then it did nothing */
    uint64_t loaded; /* words */
    uint64_t torn;
    uint64_t number, seen; /* of the first torn one */
} litmus_tear_result;

HBF_FUNCTION void litmus_tear_store(HBF_GLOBAL uint8_t *word, uint32_t value, litmus_tear_arguments arguments) {
    if (!arguments.split) {
        litmus_store64(word, (uint64_t)value << 32 | value, HBF_LITMUS_RELAXED, arguments.scope);
        return;
    }
    volatile uint32_t turns = value % 64; /* a moment in which others look */
    litmus_store32(word, value, arguments.scope);
    while (turns != 0) turns = turns - 1;
    litmus_store32(word + 4, value, arguments.scope);
}

HBF_FUNCTION void litmus_tear_item(hbf_item item, HBF_GLOBAL uint8_t *bytes, HBF_GLOBAL uint8_t *out,
                                   litmus_tear_arguments arguments) {
    if (item.id != 0 || item.group != 0) return;
    HBF_GLOBAL litmus_tear_result *const result = (HBF_GLOBAL litmus_tear_result *)out;
    uint64_t loaded = 0, torn = 0, number = 0, first = 0;
    uint32_t each = arguments.value;
    const uint32_t lacks = litmus_lacks(HBF_LITMUS_RELAXED, arguments.scope);
    for (uint32_t turn = 0; lacks == 0 && turn < arguments.turns; ++turn, each += 0x9e3779b1u) {
        for (uint32_t i = 0; i < arguments.words; ++i) {
            HBF_GLOBAL uint8_t *const word = bytes + 8 * (uint64_t)i;
            if (arguments.stores) {
                litmus_tear_store(word, each + i, arguments);
                continue;
            }
            const uint64_t seen = litmus_load64(word, HBF_LITMUS_RELAXED, arguments.scope);
            ++loaded;
            if ((uint32_t)seen != (uint32_t)(seen >> 32) && torn++ == 0) number = i, first = seen;
        }
    }
    result->lacks = lacks;
    result->loaded = loaded, result->torn = torn, result->number = number, result->seen = first;
}

HBF_KERNEL(litmus_tear, 2)

#ifdef HBF_ON_HOST
template <class Sample>
void litmus_tear_sample(Sample &sample) {
    sample.random(800), sample.random(sizeof(litmus_tear_result));
    sample.arguments(litmus_tear_arguments{100, 3, 1, 0, HBF_LITMUS_DEVICE, 12345});
}
#endif

HBF_DEVICE_END

#endif
