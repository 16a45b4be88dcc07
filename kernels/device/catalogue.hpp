// SPDX-License-Identifier: Apache-2.0
// The project's device kernels: what a plugin needs to build and launch each, and its twin on the host, which is the same
// source. docs/internals.md shows how to add one.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/device/twin.hpp"

namespace hbf::kernels::device {

// What a device must have beyond OpenCL 1.2, bits.
enum Needs : uint32_t {
    needs_nothing = 0,
    needs_c11_atomics = 1,   // OpenCL C 3.0 with __opencl_c_atomic_order_acq_rel and __opencl_c_atomic_scope_device
    needs_int64_atomics = 2, // cl_khr_int64_base_atomics, or 64-bit C11 atomics
    needs_fp16 = 4,          // cl_khr_fp16
    needs_fp64 = 8,          // __opencl_c_fp64 or cl_khr_fp64
};

struct Kernel {
    std::string_view name;     // "pattern_verify/1"
    std::string_view function; // "pattern_verify", the entry point in `source`
    std::string_view source;   // one text for run-time compilers, ended by a 0 that is not counted
    uint32_t buffer_count;
    const uint32_t *access;  // a buffer: HBF_KERNEL_READS | HBF_KERNEL_WRITES
    uint64_t arguments_size; // bytes
    uint32_t local_size;     // bytes of group memory
    uint32_t needs;          // Needs

    // Runs one group: phase after phase, its work-items in order. Groups touch nothing in common but the buffers, so that
    // they may run in any order or at once, as on a device.
    void (*run_group)(const TwinBuffer *buffers, const void *arguments, const uint32_t group[3], const uint32_t groups[3],
                      const uint32_t group_size[3]);
};

std::span<const Kernel> catalogue() noexcept;       // in the order of table.inc
const Kernel *find(std::string_view name) noexcept; // by "NAME/VERSION"; nullptr if there is none

// The twin of a whole launch: every group, in order, on this thread.
void run(const Kernel &kernel, const TwinBuffer *buffers, const void *arguments, const uint32_t groups[3],
         const uint32_t group_size[3]);

} // namespace hbf::kernels::device
