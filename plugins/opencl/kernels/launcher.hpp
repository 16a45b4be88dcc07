// SPDX-License-Identifier: Apache-2.0
// How a queue launches kernels.
//
// A cl_kernel holds its arguments until it is enqueued, so two threads that share one launch each other's. Each queue has
// a launcher, and each launcher cl_kernel objects of its own, made when a kernel is first checked.
#pragma once

#include <vector>

#include "hbf/abi/command.h"
#include "plugins/opencl/kernels/device_kernels.hpp"

namespace hbf::opencl {

// Where a buffer of a launch lies: in a cl_mem, or, where that is nullptr, in shared virtual memory. Its code is given the
// start of the allocation and the offset.
struct LaunchPlace {
    cl_mem memory = nullptr;
    void *svm = nullptr; // start of the allocation
    uint64_t offset = 0; // bytes, the region's own and the launch's
};

// [one thread at a time]
class Launcher {
public:
    explicit Launcher(DeviceKernels &kernels); // outlives this
    // Throws sdk::Failure (HBF_INVALID) where the launch does not fit its kernel: id, number of buffers, their alignment and
    // access bits, size of the arguments, groups. Regions are the caller's to check. After it start() needs no new object.
    void check(const hbf_launch &launch);

    // Of a launch that was checked, with a place for each of its buffers. Allocates nothing itself. CL_SUCCESS, or what the
    // driver said; then nothing has begun.
    cl_int start(cl_command_queue queue, const hbf_launch &launch, const LaunchPlace *places, cl_uint wait_count,
                 const cl_event *waits, cl_event *event) noexcept;

private:
    DeviceKernels &kernels_;
    std::vector<Kernel> own_; // by id - 1; empty until checked
};

} // namespace hbf::opencl
