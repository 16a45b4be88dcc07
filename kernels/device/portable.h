/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel may use: the same words under OpenCL C 1.2, CUDA, HIP, SPIR-V and, for its twin, C++ on the host.
 *
 * A kernel is one file, NAME.h, in C99 without pointers to functions, recursion, library calls, constant tables at
 * file scope, or names that OpenCL C has taken (local, global, constant, private, kernel, half).  It has
 *
 *   typedef struct NAME_arguments {...} NAME_arguments;  fixed-width members, naturally aligned, a multiple of 8 bytes
 *   HBF_FUNCTION void NAME_item(hbf_item item, HBF_GLOBAL uint8_t *buffer, ..., NAME_arguments arguments)
 *   HBF_KERNEL(NAME, number of buffers)
 *
 * and is right for any number of groups and of work-items in a group, in any order.  One whose work-items need each other
 * is written in phases instead.  Between two of them stands a barrier; what outlives a phase is in the group's memory, which
 * begins with any bytes:
 *
 *   typedef struct NAME_local {...} NAME_local;
 *   HBF_FUNCTION uint32_t NAME_phases(hbf_item item, NAME_arguments arguments)      the same for all items of a group
 *   HBF_FUNCTION void NAME_phase(uint32_t phase, hbf_item item, HBF_GLOBAL uint8_t *buffer, ...,
 *                                NAME_arguments arguments, HBF_LOCAL NAME_local *shared)
 *   HBF_PHASED_KERNEL(NAME, number of buffers)
 *
 * On every device the kernel's own parameters are, for each buffer, a pointer and a byte offset, a multiple of 8, and at
 * last the arguments by value.  All between HBF_DEVICE_BEGIN and HBF_DEVICE_END. */
#ifndef HBF_DEVICE_PORTABLE_H
#define HBF_DEVICE_PORTABLE_H

/* One work-item; launches of more than one dimension are counted through, x first. */
typedef struct hbf_item {
    unsigned int id;         /* in its group */
    unsigned int group_size; /* work-items */
    unsigned int group;
    unsigned int groups;
} hbf_item;

#if defined(__OPENCL_C_VERSION__) /* also on the way to SPIR-V */

#define HBF_DEVICE_BEGIN
#define HBF_DEVICE_END
#define HBF_FUNCTION static inline __attribute__((unused))
#define HBF_PURE HBF_FUNCTION
#define HBF_GLOBAL __global
#define HBF_LOCAL __local
#define HBF_ENTRY __kernel
#define HBF_GROUP_MEMORY __local
#define HBF_BARRIER() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

typedef uchar uint8_t;
typedef ushort uint16_t;
typedef uint uint32_t;
typedef int int32_t;
typedef ulong uint64_t;
typedef long int64_t;

HBF_FUNCTION hbf_item hbf_this_item(void) {
    const hbf_item item = {
        (uint32_t)(get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2))),
        (uint32_t)(get_local_size(0) * get_local_size(1) * get_local_size(2)),
        (uint32_t)(get_group_id(0) + get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2))),
        (uint32_t)(get_num_groups(0) * get_num_groups(1) * get_num_groups(2))};
    return item;
}
HBF_FUNCTION void hbf_local_add(HBF_LOCAL uint32_t *at, uint32_t value) {
    atomic_add(at, value);
}
HBF_FUNCTION void hbf_local_xor(HBF_LOCAL uint32_t *at, uint32_t value) {
    atomic_xor(at, value);
}

#elif defined(__HIP__) || defined(__HIPCC_RTC__) /* by clang's builtins: no header of ROCm is needed */

#define HBF_DEVICE_BEGIN
#define HBF_DEVICE_END
#define HBF_FUNCTION static inline __attribute__((device, always_inline, unused))
#define HBF_PURE HBF_FUNCTION
#define HBF_GLOBAL
#define HBF_LOCAL
#define HBF_ENTRY extern "C" __attribute__((global))
#define HBF_GROUP_MEMORY __attribute__((shared))
#define HBF_BARRIER() hbf_barrier()

#if !defined(__HIPCC_RTC__)
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef int int32_t;
typedef unsigned long uint64_t;
typedef long int64_t;
#endif

HBF_FUNCTION void hbf_barrier(void) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
HBF_FUNCTION hbf_item hbf_this_item(void) {
    const uint32_t x = __builtin_amdgcn_workgroup_size_x(), y = __builtin_amdgcn_workgroup_size_y(),
                   z = __builtin_amdgcn_workgroup_size_z();
    const uint32_t groups_x = __builtin_amdgcn_grid_size_x() / x, groups_y = __builtin_amdgcn_grid_size_y() / y,
                   groups_z = __builtin_amdgcn_grid_size_z() / z;
    const hbf_item item = {__builtin_amdgcn_workitem_id_x() +
                               x * (__builtin_amdgcn_workitem_id_y() + y * __builtin_amdgcn_workitem_id_z()),
                           x * y * z,
                           __builtin_amdgcn_workgroup_id_x() +
                               groups_x * (__builtin_amdgcn_workgroup_id_y() + groups_y * __builtin_amdgcn_workgroup_id_z()),
                           groups_x * groups_y * groups_z};
    return item;
}
HBF_FUNCTION void hbf_local_add(HBF_LOCAL uint32_t *at, uint32_t value) {
    __hip_atomic_fetch_add(at, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
}
HBF_FUNCTION void hbf_local_xor(HBF_LOCAL uint32_t *at, uint32_t value) {
    __hip_atomic_fetch_xor(at, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
}

#elif defined(__CUDACC__) || defined(__CUDACC_RTC__)

#define HBF_DEVICE_BEGIN
#define HBF_DEVICE_END
#define HBF_FUNCTION static __device__ __forceinline__
#define HBF_PURE HBF_FUNCTION
#define HBF_GLOBAL
#define HBF_LOCAL
#define HBF_ENTRY extern "C" __global__
#define HBF_GROUP_MEMORY __shared__
#define HBF_BARRIER() __syncthreads()

#if defined(__CUDACC_RTC__)
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef int int32_t;
typedef unsigned long uint64_t;
typedef long int64_t;
#else
#include <stdint.h>
#endif

HBF_FUNCTION hbf_item hbf_this_item(void) {
    const hbf_item item = {
        threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), blockDim.x * blockDim.y * blockDim.z,
        blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z), gridDim.x * gridDim.y * gridDim.z};
    return item;
}
HBF_FUNCTION void hbf_local_add(HBF_LOCAL uint32_t *at, uint32_t value) {
    atomicAdd(at, value);
}
HBF_FUNCTION void hbf_local_xor(HBF_LOCAL uint32_t *at, uint32_t value) {
    atomicXor(at, value);
}

#else /* the twin */

#define HBF_ON_HOST 1
#include "twin.hpp"

#endif

#if !defined(HBF_ON_HOST)

HBF_FUNCTION uint64_t hbf_load64(HBF_GLOBAL const uint8_t *at) {
    return *(HBF_GLOBAL const uint64_t *)at;
}
HBF_FUNCTION uint32_t hbf_load32(HBF_GLOBAL const uint8_t *at) {
    return *(HBF_GLOBAL const uint32_t *)at;
}
HBF_FUNCTION void hbf_store64(HBF_GLOBAL uint8_t *at, uint64_t value) {
    *(HBF_GLOBAL uint64_t *)at = value;
}
HBF_FUNCTION void hbf_store32(HBF_GLOBAL uint8_t *at, uint32_t value) {
    *(HBF_GLOBAL uint32_t *)at = value;
}

#define HBF_PARAMETERS_1 HBF_GLOBAL uint8_t *b0, uint64_t o0
#define HBF_PARAMETERS_2 HBF_PARAMETERS_1, HBF_GLOBAL uint8_t *b1, uint64_t o1
#define HBF_PARAMETERS_3 HBF_PARAMETERS_2, HBF_GLOBAL uint8_t *b2, uint64_t o2
#define HBF_PARAMETERS_4 HBF_PARAMETERS_3, HBF_GLOBAL uint8_t *b3, uint64_t o3
#define HBF_PARAMETERS_5 HBF_PARAMETERS_4, HBF_GLOBAL uint8_t *b4, uint64_t o4
#define HBF_PARAMETERS_6 HBF_PARAMETERS_5, HBF_GLOBAL uint8_t *b5, uint64_t o5
#define HBF_BUFFERS_1 b0 + o0
#define HBF_BUFFERS_2 HBF_BUFFERS_1, b1 + o1
#define HBF_BUFFERS_3 HBF_BUFFERS_2, b2 + o2
#define HBF_BUFFERS_4 HBF_BUFFERS_3, b3 + o3
#define HBF_BUFFERS_5 HBF_BUFFERS_4, b4 + o4
#define HBF_BUFFERS_6 HBF_BUFFERS_5, b5 + o5

#define HBF_KERNEL(name, n)                                                                                                 \
    HBF_ENTRY void name(HBF_PARAMETERS_##n, const name##_arguments arguments) {                                             \
        name##_item(hbf_this_item(), HBF_BUFFERS_##n, arguments);                                                           \
    }

#define HBF_PHASED_KERNEL(name, n)                                                                                          \
    HBF_ENTRY void name(HBF_PARAMETERS_##n, const name##_arguments arguments) {                                             \
        HBF_GROUP_MEMORY name##_local shared;                                                                               \
        const hbf_item item = hbf_this_item();                                                                              \
        const uint32_t phases = name##_phases(item, arguments);                                                             \
        for (uint32_t phase = 0; phase < phases; ++phase) {                                                                 \
            name##_phase(phase, item, HBF_BUFFERS_##n, arguments, &shared);                                                 \
            HBF_BARRIER();                                                                                                  \
        }                                                                                                                   \
    }

#endif

/* A work-item's first index and its step, so that all of a launch together go once through [0, n). */
HBF_FUNCTION uint64_t hbf_first(hbf_item item) {
    return (uint64_t)item.group * item.group_size + item.id;
}
HBF_FUNCTION uint64_t hbf_step(hbf_item item) {
    return (uint64_t)item.groups * item.group_size;
}

/* The part of [0, n) that is the group's, for what is bound by memory: its items take neighbours, and a CPU, which runs
 * them one after the other, finds in its cache what the one before has fetched. */
typedef struct hbf_share {
    uint64_t begin, end;
} hbf_share;

HBF_FUNCTION hbf_share hbf_share_of(hbf_item item, uint64_t n) {
    const uint64_t each = n / item.groups + (n % item.groups != 0);
    const uint64_t begin = each * item.group;
    const hbf_share share = {begin < n ? begin : n, n - (begin < n ? begin : n) < each ? n : begin + each};
    return share;
}

#endif
