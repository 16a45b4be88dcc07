/* SPDX-License-Identifier: Apache-2.0 */
/* "hbf.kernels/1": device code that HBF_COMMAND_LAUNCH can run. */
#ifndef HBF_ABI_KERNELS_H
#define HBF_ABI_KERNELS_H

#include "basic.h"
#include "plugin.h"

HBF_BEGIN_C

#define HBF_EXT_KERNELS "hbf.kernels/1"

/* Names are "NAME/VERSION": the version grows when buffers, arguments or meaning change.  Those that libhbf and the
 * conformance suite look for are the project's own (kernels/device); a plugin may have others. */
typedef struct hbf_kernel_info {
    uint32_t struct_size;
    uint32_t max_group_size;    /* work-items */
    uint64_t kernel;            /* id for launch, never 0; valid until the instance is destroyed */
    uint64_t arguments_size;    /* bytes launch expects */
    uint32_t buffer_count;      /* buffers launch expects */
    uint32_t concurrent_groups; /* groups that run at the same time for certain, 1 if unknown: agents that wait for each
                                 * other must be no more than this */
    char name[64];
    char origin[64]; /* "prebuilt sm_90", "built at run time", ... */
} hbf_kernel_info;
#define HBF_KERNEL_INFO_MIN_SIZE 160u
HBF_CHECK_LAYOUT(hbf_kernel_info, 160, origin);

typedef struct hbf_kernels_ext {
    uint32_t struct_size;
    uint32_t kernel_count; /* names that `name` knows; fixed for the life of the instance */

    /* [any-thread] Looks a kernel up by name, building it if need be (which may take seconds); the same id each time.
     * HBF_UNSUPPORTED if there is none, or this device lacks what it needs; HBF_UNAVAILABLE if it does not build: the
     * message carries the compiler's first words, the log callback all of them. */
    hbf_status (*find)(hbf_instance *instance, hbf_string name, hbf_kernel_info *out, hbf_error *error) HBF_NOEXCEPT;

    /* [any-thread] Name of kernel `index`, which `find` takes; the bytes live until the instance is destroyed.  An index
     * past kernel_count is HBF_INVALID.  Only what this device can run is listed. */
    hbf_status (*name)(hbf_instance *instance, uint32_t index, hbf_string *out, hbf_error *error) HBF_NOEXCEPT;
} hbf_kernels_ext;
#define HBF_KERNELS_EXT_MIN_SIZE 24u
HBF_CHECK_LAYOUT(hbf_kernels_ext, 24, name);

HBF_END_C

#endif
