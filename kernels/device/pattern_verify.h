/* SPDX-License-Identifier: Apache-2.0 */
/* Compares buffer 0 with test data, bit for bit.  Each group writes one pattern_verify_result to buffer 1, at its number, so
 * that nobody has to clear it before: pattern_findings.hpp puts them together. */
#ifndef HBF_DEVICE_PATTERN_VERIFY_H
#define HBF_DEVICE_PATTERN_VERIFY_H

#include "pattern.h"

HBF_DEVICE_BEGIN

typedef pattern_arguments pattern_verify_arguments;

typedef struct pattern_verify_result {
    uint64_t checked_words; /* 8-byte words this group has looked at, of modulo 20 the unjudged ones too */
    uint64_t wrong_words;
    uint64_t first_offset;     /* bytes from the start of buffer 0, of the group's first wrong word; all ones: none */
    uint64_t expected, actual; /* that word, as it must be and as it was read */
    uint32_t up[64], down[64]; /* wrong bits by place in the word: read as 1, as 0; modulo 2^32 */
} pattern_verify_result;

#define HBF_VERIFY_ITEMS 256u /* of a group that work */

typedef struct pattern_verify_local {
    uint64_t checked[HBF_VERIFY_ITEMS], wrong[HBF_VERIFY_ITEMS];
    uint64_t first[HBF_VERIFY_ITEMS], expected[HBF_VERIFY_ITEMS], actual[HBF_VERIFY_ITEMS];
    uint32_t up[64], down[64];
} pattern_verify_local;

HBF_FUNCTION uint32_t pattern_verify_phases(hbf_item item, pattern_verify_arguments arguments) {
    (void)item, (void)arguments;
    return 3;
}

/* Notes which bits of one wrong word are wrong. */
HBF_FUNCTION void pattern_verify_note(uint64_t expected, uint64_t actual, HBF_LOCAL pattern_verify_local *shared) {
    for (uint32_t bit = 0; bit < 64; ++bit) {
        if (!((expected ^ actual) >> bit & 1)) continue;
        if (actual >> bit & 1)
            hbf_local_add(&shared->up[bit], 1);
        else
            hbf_local_add(&shared->down[bit], 1);
    }
}

HBF_FUNCTION void pattern_verify_scan(hbf_item item, uint32_t items, HBF_GLOBAL uint8_t *src,
                                      pattern_verify_arguments arguments, HBF_LOCAL pattern_verify_local *shared) {
    pattern_reader reader = pattern_read(arguments);
    const hbf_share share = hbf_share_of(item, arguments.pattern < HBF_PATTERN_COUNT ? arguments.size / 8 : 0);
    uint64_t checked = 0, wrong = 0, first = ~(uint64_t)0, first_expected = 0, first_actual = 0;
    for (uint64_t i = share.begin + item.id; i < share.end; i += items, ++checked) {
        const uint64_t address = arguments.address + 8 * i;
        const uint64_t expected = pattern_word64(&reader, arguments, address), actual = hbf_load64(src + 8 * i);
        if (expected == actual) continue;
        if (arguments.pattern == 6 && !pattern_is_twentieth(arguments, address)) continue;
        if (wrong++ == 0) first = 8 * i, first_expected = expected, first_actual = actual;
        pattern_verify_note(expected, actual, shared);
    }
    shared->checked[item.id] = checked;
    shared->wrong[item.id] = wrong;
    shared->first[item.id] = first;
    shared->expected[item.id] = first_expected;
    shared->actual[item.id] = first_actual;
}

HBF_FUNCTION void pattern_verify_phase(uint32_t phase, hbf_item item, HBF_GLOBAL uint8_t *src, HBF_GLOBAL uint8_t *out,
                                       pattern_verify_arguments arguments, HBF_LOCAL pattern_verify_local *shared) {
    const uint32_t items = item.group_size < HBF_VERIFY_ITEMS ? item.group_size : HBF_VERIFY_ITEMS;
    HBF_GLOBAL pattern_verify_result *const result = (HBF_GLOBAL pattern_verify_result *)out + item.group;
    if (item.id >= items) return;
    if (phase == 0) {
        for (uint32_t bit = item.id; bit < 64; bit += items) shared->up[bit] = shared->down[bit] = 0;
    } else if (phase == 1) {
        pattern_verify_scan(item, items, src, arguments, shared);
    } else {
        for (uint32_t bit = item.id; bit < 64; bit += items)
            result->up[bit] = shared->up[bit], result->down[bit] = shared->down[bit];
        if (item.id != 0) return;
        uint64_t checked = 0, wrong = 0;
        uint32_t first = 0;
        for (uint32_t i = 0; i < items; ++i) {
            checked += shared->checked[i], wrong += shared->wrong[i];
            if (shared->first[i] < shared->first[first]) first = i;
        }
        result->checked_words = checked, result->wrong_words = wrong;
        result->first_offset = shared->first[first];
        result->expected = shared->expected[first], result->actual = shared->actual[first];
    }
}

HBF_PHASED_KERNEL(pattern_verify, 2)

#ifdef HBF_ON_HOST
template <class Sample>
void pattern_verify_sample(Sample &sample) {
    sample.random(8000), sample.random(8 * sizeof(pattern_verify_result)); /* of up to 8 groups */
    sample.arguments(pattern_verify_arguments{64, 8000, 3, 2, 5, 6});
}
#endif

HBF_DEVICE_END

#endif
