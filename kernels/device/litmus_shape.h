/* SPDX-License-Identifier: Apache-2.0 */
/* Agents of a litmus shape: group g runs the steps of agent first_agent + g on the words of one instance after the other, in
 * buffer 0.  The others of the shape, groups of this launch or threads of the host, meet it in buffer 1 before an instance,
 * so that all run at the same time.  What loads saw goes to buffer 2: litmus_shape_head, then 4 words an instance, of each
 * group.
 *
 * Nobody waits for ever: whoever has waited `spins` turns in all says so to all and ends, and the instances that it never
 * came to say nothing.  Agents lie in different groups, since work-items of one need not run beside each other. */
#ifndef HBF_DEVICE_LITMUS_SHAPE_H
#define HBF_DEVICE_LITMUS_SHAPE_H

#include "litmus_atomics.h"

#define HBF_LITMUS_AGENTS 4u
#define HBF_LITMUS_STEPS 3u
#define HBF_LITMUS_LOCATIONS 3u

/* A step: operation, order (HBF_LITMUS_*), location, value, 8 bits each from the lowest. */
#define HBF_LITMUS_END 0u
#define HBF_LITMUS_LOAD 1u
#define HBF_LITMUS_STORE 2u
#define HBF_LITMUS_FENCE 3u

/* Buffer 1, zero at the start: how far each agent has come lies 128 bytes from the next one's, then the first
 * serial of the launch in which one gave up. */
#define HBF_LITMUS_APART 128u
#define HBF_LITMUS_MEETING_SIZE (HBF_LITMUS_APART * (HBF_LITMUS_AGENTS + 1))

HBF_DEVICE_BEGIN

typedef struct litmus_shape_arguments {
    uint64_t first;       /* serial of the first instance: a stored value is serial << 4 | the step's */
    uint64_t seed;        /* of delays */
    uint32_t instances;   /* a power of two */
    uint32_t agents;      /* that meet */
    uint32_t first_agent; /* that group 0 is */
    uint32_t acting;      /* groups that act: first_agent + acting <= agents */
    uint32_t spins;       /* that an agent waits for the others, in all */
    uint32_t scope;       /* HBF_LITMUS_DEVICE or HBF_LITMUS_SYSTEM */
    uint32_t meet_each;   /* 1: before every instance; 0: before the first */
    uint32_t most_delay;  /* turns before a step */
    uint64_t stride; /* bytes of buffer 0 from one place to the next; instance i's is (i * factor + offset) % instances */
    uint64_t base[HBF_LITMUS_LOCATIONS]; /* bytes, a multiple of 8 */
    uint32_t factor[HBF_LITMUS_LOCATIONS], offset[HBF_LITMUS_LOCATIONS];
    uint32_t step[HBF_LITMUS_AGENTS][HBF_LITMUS_STEPS];
} litmus_shape_arguments;

typedef struct litmus_shape_head {
    uint64_t ran;   /* instances */
    uint64_t lacks; /* HBF_LITMUS_NO_* bits: what this build cannot do; then it did nothing */
} litmus_shape_head;

HBF_FUNCTION uint64_t litmus_shape_result_size(uint32_t instances) { /* bytes of one group's */
    return sizeof(litmus_shape_head) + (uint64_t)instances * 4 * sizeof(uint64_t);
}

/* Every other time nothing, else up to `most` turns. */
HBF_FUNCTION void litmus_shape_delay(uint64_t *random, uint32_t most) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    const uint32_t drawn = (uint32_t)(*random >> 33);
    volatile uint32_t turns = drawn & 1 ? (drawn >> 1) % (most + 1) : 0;
    while (turns != 0) turns = turns - 1;
}

/* Agents of different kinds are not equally fast after they have met: one or the other is held up for a moment. */
HBF_FUNCTION void litmus_shape_skew(uint64_t *random) {
    litmus_shape_delay(random, (1u << (*random >> 33) % 9) - 1);
}

/* Until all have come to `number`, which rises. */
HBF_FUNCTION uint32_t litmus_shape_wait(HBF_GLOBAL uint8_t *meeting, uint32_t agent, uint64_t number, uint32_t *left,
                                        litmus_shape_arguments arguments) {
    HBF_GLOBAL uint8_t *const over = meeting + HBF_LITMUS_APART * HBF_LITMUS_AGENTS;
    litmus_store64(meeting + HBF_LITMUS_APART * agent, number, HBF_LITMUS_RELEASE, arguments.scope);
    for (uint32_t other = 0; other < arguments.agents; ++other) {
        HBF_GLOBAL uint8_t *const there = meeting + HBF_LITMUS_APART * other;
        while (litmus_load64(there, HBF_LITMUS_ACQUIRE, arguments.scope) < number) {
            if (*left != 0) --*left;
            if (*left % 256 != 0) continue;
            litmus_store64(meeting + HBF_LITMUS_APART * agent, number, HBF_LITMUS_RELEASE, arguments.scope); /* if lost */
            if (*left != 0 && litmus_load64(over, HBF_LITMUS_RELAXED, arguments.scope) != arguments.first) continue;
            litmus_store64(over, arguments.first, HBF_LITMUS_RELAXED, arguments.scope);
            return 0;
        }
    }
    return 1;
}

/* Twice, so that none goes on while another, long come, has lost its processor meanwhile. */
HBF_FUNCTION uint32_t litmus_shape_meet(HBF_GLOBAL uint8_t *meeting, uint32_t agent, uint64_t instance, uint32_t *left,
                                        litmus_shape_arguments arguments) {
    return litmus_shape_wait(meeting, agent, 2 * instance + 1, left, arguments) &&
           litmus_shape_wait(meeting, agent, 2 * instance + 2, left, arguments);
}

HBF_FUNCTION uint32_t litmus_shape_lacks(uint32_t agent, litmus_shape_arguments arguments) {
    uint32_t lacks = 0;
    for (uint32_t i = 0; i < HBF_LITMUS_STEPS; ++i)
        lacks |= litmus_lacks(arguments.step[agent][i] >> 8 & 255, arguments.scope);
    return lacks;
}

HBF_FUNCTION void litmus_shape_item(hbf_item item, HBF_GLOBAL uint8_t *words, HBF_GLOBAL uint8_t *meeting,
                                    HBF_GLOBAL uint8_t *out, litmus_shape_arguments arguments) {
    if (item.id != 0 || item.group >= arguments.acting) return;
    const uint32_t agent = arguments.first_agent + item.group, scope = arguments.scope;
    if (agent >= HBF_LITMUS_AGENTS) return;
    HBF_GLOBAL uint8_t *const own = out + litmus_shape_result_size(arguments.instances) * item.group;
    HBF_GLOBAL litmus_shape_head *const head = (HBF_GLOBAL litmus_shape_head *)own;
    uint64_t random = arguments.seed ^ agent;
    uint32_t i = 0, left = arguments.spins;
    head->lacks = litmus_shape_lacks(agent, arguments);
    for (; head->lacks == 0 && i < arguments.instances; ++i) {
        HBF_GLOBAL uint8_t *result = own + sizeof(litmus_shape_head) + (uint64_t)i * 4 * sizeof(uint64_t);
        if ((arguments.meet_each || i == 0) && !litmus_shape_meet(meeting, agent, i, &left, arguments)) break;
        litmus_shape_skew(&random);
        for (uint32_t s = 0; s < HBF_LITMUS_STEPS; ++s) {
            const uint32_t step = arguments.step[agent][s], operation = step & 255, order = step >> 8 & 255;
            if (operation == HBF_LITMUS_END) break;
            if (arguments.most_delay != 0) litmus_shape_delay(&random, arguments.most_delay);
            const uint32_t location = (step >> 16 & 255) % HBF_LITMUS_LOCATIONS;
            const uint32_t place = (i * arguments.factor[location] + arguments.offset[location]) & (arguments.instances - 1);
            HBF_GLOBAL uint8_t *const word = words + arguments.base[location] + place * arguments.stride;
            if (operation == HBF_LITMUS_LOAD) {
                hbf_store64(result, litmus_load64(word, order, scope));
                result += sizeof(uint64_t);
            } else if (operation == HBF_LITMUS_STORE) {
                litmus_store64(word, (arguments.first + i) << 4 | step >> 24, order, scope);
            } else {
                litmus_fence(scope);
            }
        }
    }
    head->ran = i;
}

HBF_KERNEL(litmus_shape, 3)

#ifdef HBF_ON_HOST
template <class Sample>
void litmus_shape_sample(Sample &sample) {
    /* One agent, which meets nobody: load, store, load. */
    sample.random(8 * 64), sample.zeros(HBF_LITMUS_MEETING_SIZE), sample.random(litmus_shape_result_size(8));
    litmus_shape_arguments arguments = {1, 2, 8, 1, 0, 1, 1000, HBF_LITMUS_DEVICE, 1, 3, 64, {}, {}, {}, {}};
    for (uint32_t i = 0; i < HBF_LITMUS_LOCATIONS; ++i) arguments.factor[i] = 1;
    arguments.step[0][0] = arguments.step[0][2] = HBF_LITMUS_LOAD | HBF_LITMUS_RELAXED << 8;
    arguments.step[0][1] = HBF_LITMUS_STORE | HBF_LITMUS_RELAXED << 8 | 5u << 24;
    sample.arguments(arguments);
}
#endif

HBF_DEVICE_END

#endif
