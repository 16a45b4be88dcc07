/* SPDX-License-Identifier: Apache-2.0 */
/* What every other header uses: strings, status codes, the caller's error buffer.
 *
 * Sized structs.  Every struct that crosses the boundary starts with `struct_size`, set by whoever fills the struct to
 * the size *it* knows.  A reader uses a field only if it lies inside that size, and refuses a struct only if it is
 * smaller than the frozen HBF_*_MIN_SIZE, never because it differs from its own sizeof.  A writer of an output struct
 * writes only inside the size the caller gave.  Fields are appended, never reordered or reused.  Padding is spelt out
 * (`reserved`, written 0, not read).  A struct without struct_size never changes.
 *
 * Threads.  Every function says one of
 *   [any-thread]    callable at any time from any thread, also concurrently with itself and with [serial] calls
 *   [serial:X]      calls so tagged with the same X never overlap (the host sees to it); different X may run in parallel
 *   [last:X]        nothing else runs on X during the call (the host sees to it), and nothing may afterwards
 *
 * Pointers.  What a function points to in its arguments is the caller's and is read or written during the call only,
 * unless a note says otherwise.  Outputs are written on success only, but an out-handle, kernel, value or count is
 * set to NULL or 0 on failure.  The struct_size of an output struct stays the caller's, and so does any tail the writer
 * does not know: zero it first.  A function pointer in a table is never NULL unless its note says so.
 *
 * Exceptions never cross, in either direction.  64-bit little-endian platforms only. */
#ifndef HBF_ABI_BASIC_H
#define HBF_ABI_BASIC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus /* C++17 or later */
#define HBF_STATIC_ASSERT(condition, message) static_assert(condition, message)
#define HBF_NOEXCEPT noexcept
#define HBF_BEGIN_C extern "C" {
#define HBF_END_C }
#else /* C11 or later */
#define HBF_STATIC_ASSERT(condition, message) _Static_assert(condition, message)
#define HBF_NOEXCEPT
#define HBF_BEGIN_C
#define HBF_END_C
#endif

/* True when `field` of `type` lies inside `*ptr`, going by its struct_size. */
#define HBF_HAS_FIELD(type, ptr, field) ((ptr)->struct_size >= offsetof(type, field) + sizeof(((const type *)0)->field))

/* The layout of `type` in this version of the headers: its size, and that nothing follows `last`, not even padding. */
#define HBF_CHECK_LAYOUT(type, size, last)                                                                                  \
    HBF_STATIC_ASSERT(sizeof(type) == (size) && offsetof(type, last) + sizeof(((type *)0)->last) == (size),                 \
                      "the layout of " #type " is part of the ABI")

HBF_STATIC_ASSERT(sizeof(void *) == 8 && sizeof(size_t) == 8, "the HBF plugin ABI is defined for 64-bit platforms");

HBF_BEGIN_C

/* A string going in: not NUL-terminated, valid during the call only.  {NULL, 0} is the empty string. */
typedef struct hbf_string {
    const char *data;
    uint64_t size; /* bytes */
} hbf_string;
HBF_CHECK_LAYOUT(hbf_string, 16, size);

/* Outcome of a call.  Unknown values are treated as HBF_INTERNAL. */
typedef int32_t hbf_status;
#define HBF_OK ((hbf_status)0)
#define HBF_UNAVAILABLE ((hbf_status)1) /* not there: no driver, no device, file gone */
#define HBF_UNSUPPORTED ((hbf_status)2) /* there, but this cannot be done by it, ever */
#define HBF_PERMISSION ((hbf_status)3)  /* there, but not for this user */
#define HBF_EXHAUSTED ((hbf_status)4)   /* memory, disk, queue depth or a limit is used up; freeing some helps */
#define HBF_BUSY ((hbf_status)5)        /* in use: work in flight, locked by another process */
#define HBF_TIMEOUT ((hbf_status)6)     /* the deadline passed; the work is still pending */
#define HBF_CANCELLED ((hbf_status)7)
#define HBF_DEVICE_LOST ((hbf_status)8) /* the device is gone; only destroy remains */
#define HBF_DATA_LOSS ((hbf_status)9)   /* bytes are not what they must be: short read, checksum, uncorrectable error */
#define HBF_INVALID ((hbf_status)10)    /* the caller's argument is wrong (stale handle, bad range, bad enum) */
#define HBF_INTERNAL ((hbf_status)11)   /* a bug, or an exception caught at the edge */

#define HBF_NO_PLACE UINT64_MAX

/* The caller's buffer for an error message.  May be NULL wherever it is a parameter.  On failure the callee writes
 * at most `capacity` bytes including the terminating NUL, sets `length` to the full length without NUL (so a caller
 * sees a cut message), and `region` and `offset` to the failure's place, or to 0 and HBF_NO_PLACE.  A message is UTF-8,
 * cut between characters.  On success it is untouched.  One smaller than the minimum is treated as NULL. */
typedef struct hbf_error {
    uint32_t struct_size;
    uint32_t reserved;
    char *message;     /* in: the caller's, may be NULL if capacity is 0 */
    uint64_t capacity; /* in: bytes */
    uint64_t length;   /* out: bytes */
    uint64_t region;   /* out: hbf_region, or 0 */
    uint64_t offset;   /* out: byte offset in the region, or HBF_NO_PLACE */
} hbf_error;
#define HBF_ERROR_MIN_SIZE 32u
HBF_CHECK_LAYOUT(hbf_error, 48, offset);

HBF_END_C

#endif
