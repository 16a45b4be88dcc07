/* SPDX-License-Identifier: Apache-2.0 */
/* Every work-item adds 1 to 4-byte words of buffer 0, chosen at random, `turns` times.  Atomically none of it is lost,
 * whatever groups run beside each other; in two steps it is the control, and loses some. */
#ifndef HBF_DEVICE_LITMUS_ADD_H
#define HBF_DEVICE_LITMUS_ADD_H

#include "portable.h"

HBF_DEVICE_BEGIN

typedef struct litmus_add_arguments {
    uint64_t seed;
    uint32_t words;  /* of buffer 0, > 0 */
    uint32_t turns;  /* of each work-item */
    uint32_t stride; /* bytes from one word to the next, a multiple of 4 */
    uint32_t split;  /* 1: load, then store */
} litmus_add_arguments;

HBF_FUNCTION void litmus_add_one(volatile HBF_GLOBAL uint32_t *word) {
#if defined(__OPENCL_C_VERSION__)
    atomic_add(word, 1u); /* of OpenCL 1.2: every device has it */
#elif defined(__HIP__) || defined(__HIPCC_RTC__)
    __hip_atomic_fetch_add(word, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#elif defined(__CUDACC__) || defined(__CUDACC_RTC__)
    atomicAdd((uint32_t *)word, 1u);
#else
    __atomic_fetch_add(word, 1u, __ATOMIC_RELAXED);
#endif
}

/* With a moment between the steps, in which others come and go. */
HBF_FUNCTION void litmus_add_split(volatile HBF_GLOBAL uint32_t *word, uint32_t wait) {
    volatile uint32_t turns = wait;
#if defined(HBF_ON_HOST)
    const uint32_t value = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (turns != 0) turns = turns - 1;
    __atomic_store_n(word, value + 1, __ATOMIC_RELAXED);
#else
    const uint32_t value = *word;
    while (turns != 0) turns = turns - 1;
    *word = value + 1;
#endif
}

HBF_FUNCTION void litmus_add_item(hbf_item item, HBF_GLOBAL uint8_t *bytes, litmus_add_arguments arguments) {
    uint64_t random = arguments.seed ^ (hbf_first(item) * 0x9e3779b97f4a7c15u);
    for (uint32_t turn = 0; turn < arguments.turns; ++turn) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const uint32_t chosen = (uint32_t)(random >> 33) % arguments.words;
        volatile HBF_GLOBAL uint32_t *const word =
            (volatile HBF_GLOBAL uint32_t *)(bytes + (uint64_t)chosen * arguments.stride);
        if (arguments.split)
            litmus_add_split(word, (uint32_t)(random >> 20) % 64);
        else
            litmus_add_one(word);
    }
}

HBF_KERNEL(litmus_add, 1)

#ifdef HBF_ON_HOST
template <class Sample>
void litmus_add_sample(Sample &sample) {
    sample.random(800);
    sample.arguments(litmus_add_arguments{9, 100, 50, 8, 0});
}
#endif

HBF_DEVICE_END

#endif
