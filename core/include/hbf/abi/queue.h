/* SPDX-License-Identifier: Apache-2.0 */
/* "hbf.queue/1": ordered work on a device.
 *
 * A queue is a timeline.  submit returns 1, 2, 3, ...; values complete in that order, and a value's commands see the
 * effects of every earlier value of the same queue: an engine may overlap values only where their ranges do not
 * conflict, so that nobody can tell.  Different queues are unordered but for waits.  A command that fails completes its
 * value as failed and poisons the queue: every later value completes as failed too, and so does a value, on any queue,
 * that waited on a failed one, even if the device ran it.  Plugins never call back: the host polls or waits. */
#ifndef HBF_ABI_QUEUE_H
#define HBF_ABI_QUEUE_H

#include "basic.h"
#include "command.h"
#include "plugin.h"

HBF_BEGIN_C

#define HBF_EXT_QUEUE "hbf.queue/1"

/* Who sees the destination's bytes once a value has completed, bits.  The source is reusable from then on, always. */
#define HBF_VISIBLE_DEVICE 1u      /* later commands of any queue of this instance */
#define HBF_VISIBLE_HOST 2u        /* CPU loads, in a coherent domain or after invalidate */
#define HBF_VISIBLE_THIRD_PARTY 4u /* a NIC or another device reading the memory */

#define HBF_QUEUE_CAP_CRC32C 1u /* HBF_COPY_CRC32C is computed by the engine itself */
#define HBF_QUEUE_CAP_LAUNCH 2u
#define HBF_QUEUE_CAP_CANCEL 4u

typedef struct hbf_queue_info {
    uint32_t struct_size;
    uint32_t capabilities; /* HBF_QUEUE_CAP_* */
    uint32_t visibility;   /* HBF_VISIBLE_* at completion */
    uint32_t max_depth;    /* values in flight; one more is HBF_EXHAUSTED, and nothing of it is lost or begun */
    uint32_t max_commands; /* in a batch */
    uint32_t max_queues;   /* of one instance */
} hbf_queue_info;
#define HBF_QUEUE_INFO_MIN_SIZE 24u
HBF_CHECK_LAYOUT(hbf_queue_info, 24, max_queues);

typedef struct hbf_queue_desc {
    uint32_t struct_size;
    uint32_t depth;    /* values in flight wanted; 0: the plugin's choice; over max_depth is HBF_INVALID */
    uint32_t commands; /* most commands in a batch wanted; 0: the plugin's choice; over max_commands is HBF_INVALID */
    uint32_t flags;    /* 0 */
} hbf_queue_desc;
#define HBF_QUEUE_DESC_MIN_SIZE 16u
HBF_CHECK_LAYOUT(hbf_queue_desc, 16, flags);

/* `commands` and what it points to are the host's; submit copies all it needs before it returns, except `crc` arrays
 * and region bytes. */
typedef struct hbf_batch {
    uint32_t struct_size;
    uint32_t command_stride;     /* bytes from one command to the next, >= HBF_COMMAND_SIZE, a multiple of 8 */
    const hbf_command *commands; /* may be NULL if there are none */
    uint64_t command_count;      /* 0 is legal: a value that completes after all earlier ones.  More than the queue was
                                  * made for is HBF_INVALID */
} hbf_batch;
#define HBF_BATCH_MIN_SIZE 24u
HBF_CHECK_LAYOUT(hbf_batch, 24, command_count);

/* One moment: the three fields belong together. */
typedef struct hbf_progress {
    uint32_t struct_size;
    hbf_status status;  /* HBF_OK, or why `failed` failed */
    uint64_t completed; /* highest value completed, failed ones counted */
    uint64_t failed;    /* lowest failed value, 0 none */
} hbf_progress;
#define HBF_PROGRESS_MIN_SIZE 24u
HBF_CHECK_LAYOUT(hbf_progress, 24, failed);

typedef struct hbf_queue_ext {
    uint32_t struct_size;
    uint32_t reserved;

    /* [any-thread] Facts; the same for the life of the instance. */
    hbf_status (*info)(hbf_instance *instance, hbf_queue_info *out, hbf_error *error) HBF_NOEXCEPT;

    /* [any-thread] All memory the queue will need is taken here: a warmed submit allocates nothing.  More queues than
     * max_queues is HBF_EXHAUSTED.  The queue is the instance's until destroy. */
    hbf_status (*create)(hbf_instance *instance, const hbf_queue_desc *desc, hbf_queue **out, hbf_error *error) HBF_NOEXCEPT;

    /* [last:queue] HBF_BUSY while values are in flight, and the queue stays usable.  NULL is allowed. */
    hbf_status (*destroy)(hbf_queue *queue, hbf_error *error) HBF_NOEXCEPT;

    /* [serial:queue] Takes the whole batch or nothing: on failure no command has begun and no value is spent.  An
     * argument that can be checked now (handle, range, kind) is refused now; what fails later fails the value.  A full
     * queue is HBF_EXHAUSTED.  May do short work inline.  Regions named are in use until the value completed. */
    hbf_status (*submit)(hbf_queue *queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *error) HBF_NOEXCEPT;

    /* [any-thread] Never blocks, allocates nothing. */
    hbf_status (*poll)(hbf_queue *queue, hbf_progress *out) HBF_NOEXCEPT;

    /* [any-thread] Blocks until `value` completed or the time passed; may do the work in the calling thread.
     * HBF_OK also when the value failed: poll tells.  UINT64_MAX: no limit, 0: one look.  HBF_TIMEOUT leaves the work
     * pending.  A value submit has not returned is HBF_INVALID. */
    hbf_status (*wait)(hbf_queue *queue, uint64_t value, uint64_t timeout_ns, hbf_error *error) HBF_NOEXCEPT;

    /* [any-thread] Takes `value` out if the vendor has not got it: it then completes in its turn without running
     * (HBF_OK), as a success that poisons nothing; the host tells its own caller HBF_CANCELLED.  HBF_BUSY: it runs, or
     * ran; its result will arrive, and the host discards it.  A value submit has not returned is HBF_INVALID.  The
     * pointer is NULL where unsupported (no HBF_QUEUE_CAP_CANCEL). */
    hbf_status (*cancel)(hbf_queue *queue, uint64_t value, hbf_error *error) HBF_NOEXCEPT;

    /* [any-thread] Why the lowest failed value failed (poll: `failed`, `status`): its message and place, in *error.
     * HBF_OK if it was written: the one call that writes *error on success.  HBF_INVALID if nothing failed. */
    hbf_status (*failure)(hbf_queue *queue, hbf_error *error) HBF_NOEXCEPT;
} hbf_queue_ext;
#define HBF_QUEUE_EXT_MIN_SIZE 72u
HBF_CHECK_LAYOUT(hbf_queue_ext, 72, failure);

HBF_END_C

#endif
