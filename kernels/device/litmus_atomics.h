/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses that agents in different work-groups, and the host, may make to the same words at the same time: C11's orders, in
 * the scope of this device or of all that share the memory.  Of OpenCL these are 3.0's features (needs_c11_atomics,
 * needs_int64_atomics); CUDA has them since 12.8. */
#ifndef HBF_DEVICE_LITMUS_ATOMICS_H
#define HBF_DEVICE_LITMUS_ATOMICS_H

#include "portable.h"

#define HBF_LITMUS_RELAXED 0u
#define HBF_LITMUS_ACQUIRE 1u /* of a load */
#define HBF_LITMUS_RELEASE 2u /* of a store */
#define HBF_LITMUS_SEQ_CST 3u

#define HBF_LITMUS_DEVICE 0u /* scopes */
#define HBF_LITMUS_SYSTEM 1u

#if defined(__OPENCL_C_VERSION__)

#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#define HBF_ATOMIC64(at) ((volatile __global atomic_ulong *)(at))
#define HBF_ATOMIC32(at) ((volatile __global atomic_uint *)(at))
#define HBF_SCOPE_OF_DEVICE memory_scope_device
/* HBF_SCOPE_ALL_DEVICES: the device has it by its own word, whatever its compiler's list of features says. */
#if defined(__opencl_c_atomic_scope_all_devices) || __OPENCL_C_VERSION__ == 200
#define HBF_SCOPE_OF_SYSTEM memory_scope_all_svm_devices
#elif defined(HBF_SCOPE_ALL_DEVICES) && defined(__OPENCL_MEMORY_SCOPE_ALL_SVM_DEVICES)
#define HBF_SCOPE_OF_SYSTEM ((memory_scope)__OPENCL_MEMORY_SCOPE_ALL_SVM_DEVICES)
#endif
#if defined(__opencl_c_atomic_order_seq_cst) || __OPENCL_C_VERSION__ == 200
#define HBF_ORDER_SEQ_CST memory_order_seq_cst
#endif
#define HBF_ORDER(name) memory_order_##name
#define HBF_LOAD64(at, order, scope) atomic_load_explicit(HBF_ATOMIC64(at), order, scope)
#define HBF_STORE64(at, value, order, scope) atomic_store_explicit(HBF_ATOMIC64(at), value, order, scope)
#define HBF_STORE32(at, value, order, scope) atomic_store_explicit(HBF_ATOMIC32(at), value, order, scope)
#define HBF_FENCE(order, scope) atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, order, scope)

#elif defined(__HIP__) || defined(__HIPCC_RTC__)

#define HBF_SCOPE_OF_DEVICE __HIP_MEMORY_SCOPE_AGENT
#define HBF_SCOPE_OF_SYSTEM __HIP_MEMORY_SCOPE_SYSTEM
#define HBF_ORDER_SEQ_CST __ATOMIC_SEQ_CST
#define HBF_ORDER(name) HBF_ORDER_##name
#define HBF_ORDER_relaxed __ATOMIC_RELAXED
#define HBF_ORDER_acquire __ATOMIC_ACQUIRE
#define HBF_ORDER_release __ATOMIC_RELEASE
#define HBF_LOAD64(at, order, scope) __hip_atomic_load((uint64_t *)(at), order, scope)
#define HBF_STORE64(at, value, order, scope) __hip_atomic_store((uint64_t *)(at), value, order, scope)
#define HBF_STORE32(at, value, order, scope) __hip_atomic_store((uint32_t *)(at), value, order, scope)
#define HBF_FENCE_FOR_DEVICE() __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent")
#define HBF_FENCE_FOR_SYSTEM() __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "")

#elif defined(__CUDACC__) || defined(__CUDACC_RTC__)

#define HBF_SCOPE_OF_DEVICE __NV_THREAD_SCOPE_DEVICE
#define HBF_SCOPE_OF_SYSTEM __NV_THREAD_SCOPE_SYSTEM
#define HBF_ORDER_SEQ_CST __NV_ATOMIC_SEQ_CST
#define HBF_ORDER(name) HBF_ORDER_##name
#define HBF_ORDER_relaxed __NV_ATOMIC_RELAXED
#define HBF_ORDER_acquire __NV_ATOMIC_ACQUIRE
#define HBF_ORDER_release __NV_ATOMIC_RELEASE
#define HBF_LOAD64(at, order, scope) __nv_atomic_load_n((uint64_t *)(at), order, scope)
#define HBF_STORE64(at, value, order, scope) __nv_atomic_store_n((uint64_t *)(at), value, order, scope)
#define HBF_STORE32(at, value, order, scope) __nv_atomic_store_n((uint32_t *)(at), value, order, scope)
#define HBF_FENCE(order, scope) __nv_atomic_thread_fence(order, scope)

#else /* the twin: an agent among the host's threads, which are one scope */

#define HBF_SCOPE_OF_DEVICE 0
#define HBF_SCOPE_OF_SYSTEM 0
#define HBF_ORDER_SEQ_CST __ATOMIC_SEQ_CST
#define HBF_ORDER(name) HBF_ORDER_##name
#define HBF_ORDER_relaxed __ATOMIC_RELAXED
#define HBF_ORDER_acquire __ATOMIC_ACQUIRE
#define HBF_ORDER_release __ATOMIC_RELEASE
#define HBF_LOAD64(at, order, scope) __atomic_load_n(reinterpret_cast<const uint64_t *>(at), order)
#define HBF_STORE64(at, value, order, scope) __atomic_store_n(reinterpret_cast<uint64_t *>(at), value, order)
#define HBF_STORE32(at, value, order, scope) __atomic_store_n(reinterpret_cast<uint32_t *>(at), value, order)
/* As instructions: a thread sanitizer knows no fences. */
#if defined(__x86_64__)
#define HBF_FENCE(order, scope) asm volatile("mfence" ::: "memory")
#elif defined(__aarch64__)
#define HBF_FENCE(order, scope) asm volatile("dmb ish" ::: "memory")
#else
#define HBF_FENCE(order, scope) __atomic_thread_fence(order)
#endif

#endif

/* What this build of a kernel cannot do, where a compiler leaves something out. */
#define HBF_LITMUS_NO_SCOPE 1u
#define HBF_LITMUS_NO_ORDER 2u
HBF_DEVICE_BEGIN
HBF_FUNCTION uint32_t litmus_lacks(uint32_t order, uint32_t scope) {
    uint32_t lacks = 0;
#if !defined(HBF_SCOPE_OF_SYSTEM)
    if (scope == HBF_LITMUS_SYSTEM) lacks |= HBF_LITMUS_NO_SCOPE;
#endif
#if !defined(HBF_ORDER_SEQ_CST)
    if (order == HBF_LITMUS_SEQ_CST) lacks |= HBF_LITMUS_NO_ORDER;
#endif
    (void)order, (void)scope;
    return lacks;
}

/* NOLINTBEGIN(bugprone-branch-clone,bugprone-macro-parentheses): on the host all scopes are one. */
/* Order and scope are constants to every compiler; here they are chosen among. */
#if defined(HBF_SCOPE_OF_SYSTEM)
#define HBF_IN_SCOPE(scope, of_device, of_system) ((scope) == HBF_LITMUS_SYSTEM ? (of_system) : (of_device))
#define HBF_DO_IN_SCOPE(scope, of_device, of_system)                                                                        \
    do {                                                                                                                    \
        if ((scope) == HBF_LITMUS_SYSTEM)                                                                                   \
            of_system;                                                                                                      \
        else                                                                                                                \
            of_device;                                                                                                      \
    } while (0)
#else
#define HBF_SCOPE_OF_SYSTEM HBF_SCOPE_OF_DEVICE
#define HBF_IN_SCOPE(scope, of_device, of_system) (of_device)
#define HBF_DO_IN_SCOPE(scope, of_device, of_system) of_device
#endif
#if !defined(HBF_ORDER_SEQ_CST)
#define HBF_ORDER_SEQ_CST HBF_ORDER(acquire) /* never asked for: litmus_lacks */
#define HBF_STORE_SEQ_CST HBF_ORDER(release)
#else
#define HBF_STORE_SEQ_CST HBF_ORDER_SEQ_CST
#endif

HBF_FUNCTION uint64_t litmus_load64(HBF_GLOBAL uint8_t *at, uint32_t order, uint32_t scope) {
    (void)scope;
    if (order == HBF_LITMUS_SEQ_CST)
        return HBF_IN_SCOPE(scope, HBF_LOAD64(at, HBF_ORDER_SEQ_CST, HBF_SCOPE_OF_DEVICE),
                            HBF_LOAD64(at, HBF_ORDER_SEQ_CST, HBF_SCOPE_OF_SYSTEM));
    if (order == HBF_LITMUS_ACQUIRE)
        return HBF_IN_SCOPE(scope, HBF_LOAD64(at, HBF_ORDER(acquire), HBF_SCOPE_OF_DEVICE),
                            HBF_LOAD64(at, HBF_ORDER(acquire), HBF_SCOPE_OF_SYSTEM));
    return HBF_IN_SCOPE(scope, HBF_LOAD64(at, HBF_ORDER(relaxed), HBF_SCOPE_OF_DEVICE),
                        HBF_LOAD64(at, HBF_ORDER(relaxed), HBF_SCOPE_OF_SYSTEM));
}
HBF_FUNCTION void litmus_store64(HBF_GLOBAL uint8_t *at, uint64_t value, uint32_t order, uint32_t scope) {
    (void)scope;
    if (order == HBF_LITMUS_SEQ_CST)
        HBF_DO_IN_SCOPE(scope, HBF_STORE64(at, value, HBF_STORE_SEQ_CST, HBF_SCOPE_OF_DEVICE),
                        HBF_STORE64(at, value, HBF_STORE_SEQ_CST, HBF_SCOPE_OF_SYSTEM));
    else if (order == HBF_LITMUS_RELEASE)
        HBF_DO_IN_SCOPE(scope, HBF_STORE64(at, value, HBF_ORDER(release), HBF_SCOPE_OF_DEVICE),
                        HBF_STORE64(at, value, HBF_ORDER(release), HBF_SCOPE_OF_SYSTEM));
    else
        HBF_DO_IN_SCOPE(scope, HBF_STORE64(at, value, HBF_ORDER(relaxed), HBF_SCOPE_OF_DEVICE),
                        HBF_STORE64(at, value, HBF_ORDER(relaxed), HBF_SCOPE_OF_SYSTEM));
}
HBF_FUNCTION void litmus_store32(HBF_GLOBAL uint8_t *at, uint32_t value, uint32_t scope) {
    (void)scope;
    HBF_DO_IN_SCOPE(scope, HBF_STORE32(at, value, HBF_ORDER(relaxed), HBF_SCOPE_OF_DEVICE),
                    HBF_STORE32(at, value, HBF_ORDER(relaxed), HBF_SCOPE_OF_SYSTEM));
}
/* Sequentially consistent. */
HBF_FUNCTION void litmus_fence(uint32_t scope) {
    (void)scope;
#if defined(HBF_FENCE)
    HBF_DO_IN_SCOPE(scope, HBF_FENCE(HBF_ORDER_SEQ_CST, HBF_SCOPE_OF_DEVICE),
                    HBF_FENCE(HBF_ORDER_SEQ_CST, HBF_SCOPE_OF_SYSTEM));
#else
    HBF_DO_IN_SCOPE(scope, HBF_FENCE_FOR_DEVICE(), HBF_FENCE_FOR_SYSTEM());
#endif
}
/* NOLINTEND(bugprone-branch-clone,bugprone-macro-parentheses) */
HBF_DEVICE_END

#endif
