/* SPDX-License-Identifier: Apache-2.0 */
/* "hbf.kernels/1": device code that HBF_COMMAND_LAUNCH can run. */
#ifndef HBF_ABI_KERNELS_H
#define HBF_ABI_KERNELS_H

#include "basic.h"
#include "plugin.h"

HBF_BEGIN_C

#define HBF_EXT_KERNELS "hbf.kernels/1"

typedef struct hbf_kernel_info {
    uint32_t struct_size;
    uint32_t max_group_size; /* work-items */
    uint64_t kernel;         /* id for launch, never 0; valid until the instance is destroyed */
    uint64_t arguments_size; /* bytes launch expects */
    char name[64];
    char origin[64]; /* "prebuilt sm_90", "built at run time", ... */
} hbf_kernel_info;
#define HBF_KERNEL_INFO_MIN_SIZE 152u
HBF_CHECK_LAYOUT(hbf_kernel_info, 152, origin);

typedef struct hbf_kernels_ext {
    uint32_t struct_size;
    uint32_t reserved;

    /* [any-thread] Looks a kernel up by name, building it if need be (which may take seconds).  HBF_UNSUPPORTED if
     * there is none. */
    hbf_status (*find)(hbf_instance *instance, hbf_string name, hbf_kernel_info *out, hbf_error *error) HBF_NOEXCEPT;
} hbf_kernels_ext;
#define HBF_KERNELS_EXT_MIN_SIZE 16u
HBF_CHECK_LAYOUT(hbf_kernels_ext, 16, find);

HBF_END_C

#endif
