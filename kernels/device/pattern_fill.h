/* SPDX-License-Identifier: Apache-2.0 */
/* Writes test data to buffer 0. */
#ifndef HBF_DEVICE_PATTERN_FILL_H
#define HBF_DEVICE_PATTERN_FILL_H

#include "pattern.h"

HBF_DEVICE_BEGIN

typedef pattern_arguments pattern_fill_arguments;

HBF_FUNCTION void pattern_fill_item(hbf_item item, HBF_GLOBAL uint8_t *dst, pattern_fill_arguments arguments) {
    pattern_reader reader = pattern_read(arguments);
    const hbf_share share = hbf_share_of(item, arguments.pattern < HBF_PATTERN_COUNT ? arguments.size / 8 : 0);
    for (uint64_t i = share.begin + item.id; i < share.end; i += item.group_size)
        hbf_store64(dst + 8 * i, pattern_word64(&reader, arguments, arguments.address + 8 * i));
}

HBF_KERNEL(pattern_fill, 1)

#ifdef HBF_ON_HOST
template <class Sample>
void pattern_fill_sample(Sample &sample) {
    sample.random(8008);
    sample.arguments(pattern_fill_arguments{((uint64_t)1 << 34) - 4000, 8000, 0, 1, 5, 6});
}
#endif

HBF_DEVICE_END

#endif
