/* SPDX-License-Identifier: Apache-2.0 */
/* Tagged commands: what a queue orders.
 *
 * Commands of one batch are unordered among themselves unless a wait stands between them.  A batch is a plain array with
 * its own stride (hbf_batch.command_stride), so that the union can grow; what is inside it today never changes. */
#ifndef HBF_ABI_COMMAND_H
#define HBF_ABI_COMMAND_H

#include "basic.h"
#include "tier.h"

HBF_BEGIN_C

typedef struct hbf_queue hbf_queue;

typedef uint32_t hbf_command_kind;
#define HBF_COMMAND_COPY ((hbf_command_kind)1)
#define HBF_COMMAND_FILL ((hbf_command_kind)2)
#define HBF_COMMAND_FLUSH ((hbf_command_kind)3)      /* write back: the range's stores become visible to its domain */
#define HBF_COMMAND_INVALIDATE ((hbf_command_kind)4) /* drop cached copies: the next read sees the domain's bytes */
#define HBF_COMMAND_LAUNCH ((hbf_command_kind)5)
#define HBF_COMMAND_WAIT ((hbf_command_kind)6)

/* Integrity pieces: a checksummed copy yields one CRC-32C per 64 KiB counted from the start of the copy. */
#define HBF_CRC_PIECE 65536u

/* Flag of a copy: write the CRC-32C of the bytes read from the source, per piece, to `crc`.  HBF_UNSUPPORTED from a queue
 * without HBF_QUEUE_CAP_CRC32C. */
#define HBF_COPY_CRC32C 1u

typedef struct hbf_copy {
    hbf_region dst;
    uint64_t dst_offset; /* bytes */
    hbf_region src;
    uint64_t src_offset; /* bytes */
    uint64_t size;       /* bytes, > 0; source and destination overlapping is HBF_INVALID */
    uint32_t *crc;       /* with HBF_COPY_CRC32C: ceil(size / HBF_CRC_PIECE) words, the host's, valid until completion */
} hbf_copy;
HBF_CHECK_LAYOUT(hbf_copy, 48, crc);

typedef struct hbf_fill {
    hbf_region dst;
    uint64_t dst_offset;
    uint64_t size;         /* bytes, > 0, any length: the last pattern is cut */
    uint64_t pattern;      /* little-endian, the low pattern_size bytes, starting at dst_offset */
    uint32_t pattern_size; /* 1, 2, 4 or 8 */
    uint32_t reserved;
} hbf_fill;
HBF_CHECK_LAYOUT(hbf_fill, 40, reserved);

typedef struct hbf_range { /* flush, invalidate */
    hbf_region region;
    uint64_t offset;
    uint64_t size; /* bytes, > 0; widened to the domain's granule */
} hbf_range;
HBF_CHECK_LAYOUT(hbf_range, 24, size);

/* What a kernel does with a buffer, bits. */
#define HBF_KERNEL_READS 1u
#define HBF_KERNEL_WRITES 2u

/* One range that a kernel is given: its code gets a pointer to the first byte, or what the device has for one.  The
 * region's tier has HBF_ACCESS_DEVICE, else HBF_INVALID.  Ranges of one launch may overlap; what that means is the kernel's
 * to say. */
typedef struct hbf_kernel_buffer {
    hbf_region region;
    uint64_t offset; /* bytes, a multiple of 8 */
    uint64_t size;   /* bytes, > 0 */
    uint32_t access; /* HBF_KERNEL_* bits, at least one: what is not named in any is not touched */
    uint32_t reserved;
} hbf_kernel_buffer;
HBF_CHECK_LAYOUT(hbf_kernel_buffer, 32, reserved);

/* Pointers inside `arguments` mean nothing to a device: memory is named by `buffers`, so that an engine without addresses
 * can run it and everybody knows what is in use. */
typedef struct hbf_launch {
    uint64_t kernel;                  /* from hbf.kernels/1 */
    const hbf_kernel_buffer *buffers; /* in the kernel's order; copied by submit */
    uint64_t buffer_count;            /* hbf_kernel_info.buffer_count, else HBF_INVALID */
    const void *arguments;            /* copied by submit */
    uint64_t arguments_size;          /* bytes: hbf_kernel_info.arguments_size, else HBF_INVALID */
    uint32_t groups[3];               /* each >= 1 */
    uint32_t group_size[3];           /* work-items, each >= 1; the product at most hbf_kernel_info.max_group_size */
} hbf_launch;
HBF_CHECK_LAYOUT(hbf_launch, 64, group_size);

/* queue NULL: a barrier, everything later in this batch runs after everything earlier.  Else: everything later in this
 * batch runs after `value` of that queue of the same instance, a value submit has already returned, else HBF_INVALID.
 * The queue lives until submit returns; once it is destroyed all its values have completed.  (For other instances the
 * host holds the batch back.) */
typedef struct hbf_wait {
    hbf_queue *queue;
    uint64_t value;
} hbf_wait;
HBF_CHECK_LAYOUT(hbf_wait, 16, value);

typedef struct hbf_command {
    hbf_command_kind kind;
    uint32_t flags; /* HBF_COPY_* for a copy, else 0 */
    union {
        hbf_copy copy;
        hbf_fill fill;
        hbf_range range;
        hbf_launch launch;
        hbf_wait wait;
        uint64_t space[11];
    } u;
} hbf_command;
#define HBF_COMMAND_SIZE 96u
HBF_CHECK_LAYOUT(hbf_command, HBF_COMMAND_SIZE, u);

HBF_END_C

#endif
