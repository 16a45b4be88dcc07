/* SPDX-License-Identifier: Apache-2.0 */
/* "hbf.health/1": what the device says of itself: error counters, link state, temperature. */
#ifndef HBF_ABI_HEALTH_H
#define HBF_ABI_HEALTH_H

#include "basic.h"
#include "plugin.h"

HBF_BEGIN_C

#define HBF_EXT_HEALTH "hbf.health/1"

typedef uint32_t hbf_reading_kind;
#define HBF_READING_COUNTER ((hbf_reading_kind)1) /* only grows; compare before and after */
#define HBF_READING_GAUGE ((hbf_reading_kind)2)

typedef struct hbf_reading {
    uint32_t struct_size;
    hbf_reading_kind kind;
    uint64_t value;
    char name[64]; /* "edac.mc0.ue_count" */
    char unit[16]; /* "errors", "celsius", "MT/s" */
} hbf_reading;
#define HBF_READING_MIN_SIZE 96u
HBF_CHECK_LAYOUT(hbf_reading, 96, unit);

typedef struct hbf_health_ext {
    uint32_t struct_size;
    uint32_t reserved;

    /* [any-thread] Writes up to `capacity` readings into the caller's array and the number there are to *count.
     * Elements are `stride` bytes apart (>= their struct_size, a multiple of 8), each with its struct_size set by the
     * caller.  `readings` may be NULL with capacity 0.  May block for milliseconds. */
    hbf_status (*read)(hbf_instance *instance, hbf_reading *readings, uint64_t stride, uint32_t capacity, uint32_t *count,
                       hbf_error *error) HBF_NOEXCEPT;
} hbf_health_ext;
#define HBF_HEALTH_EXT_MIN_SIZE 16u
HBF_CHECK_LAYOUT(hbf_health_ext, 16, read);

HBF_END_C

#endif
