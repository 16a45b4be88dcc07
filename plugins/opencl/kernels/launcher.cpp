// SPDX-License-Identifier: Apache-2.0
#include "plugins/opencl/kernels/launcher.hpp"

#include <string>

#include <fmt/format.h>

#include "hbf/sdk/failure.hpp"
#include "plugins/opencl/errors.hpp"

namespace hbf::opencl {
namespace {

void check_groups(const hbf_launch &launch, const DeviceKernels::Known &known, const Ability &ability) {
    const std::string_view name = known.kernel->name;
    uint64_t items = 1;
    for (size_t i = 0; i < 3; ++i) {
        if (launch.groups[i] == 0 || launch.group_size[i] == 0)
            sdk::fail(HBF_INVALID,
                      fmt::format("launch of {}: dimension {} has {} groups of {} work-items, where each is at least 1",
                                  name, i, launch.groups[i], launch.group_size[i]));
        if (launch.group_size[i] > ability.max_group_extent[i])
            sdk::fail(HBF_INVALID,
                      fmt::format("launch of {}: {} work-items in dimension {} of a group, where {} has {}", name,
                                  launch.group_size[i], i, ability.device.name, ability.max_group_extent[i]));
        items *= launch.group_size[i]; // each is at most what the device has, so three of them do not overflow
    }
    if (items > known.built.max_group_size)
        sdk::fail(HBF_INVALID, fmt::format("launch of {}: {} work-items in a group, where it takes {} at most", name, items,
                                           known.built.max_group_size));
}

void check_buffers(const hbf_launch &launch, const kernels::device::Kernel &kernel) {
    if (launch.buffer_count != kernel.buffer_count)
        sdk::fail(HBF_INVALID, fmt::format("launch of {}: {} buffers, where it has {}", kernel.name, launch.buffer_count,
                                           kernel.buffer_count));
    if (launch.arguments_size != kernel.arguments_size)
        sdk::fail(HBF_INVALID, fmt::format("launch of {}: {} bytes of arguments, where it has {}", kernel.name,
                                           launch.arguments_size, kernel.arguments_size));
    if ((!launch.buffers && launch.buffer_count > 0) || (!launch.arguments && launch.arguments_size > 0))
        sdk::fail(HBF_INVALID, fmt::format("launch of {}: its buffers or arguments are NULL", kernel.name));
    constexpr uint32_t all = HBF_KERNEL_READS | HBF_KERNEL_WRITES;
    for (uint64_t i = 0; i < launch.buffer_count; ++i) {
        const hbf_kernel_buffer &buffer = launch.buffers[i];
        if (buffer.offset % 8 != 0 || buffer.size == 0)
            sdk::fail(HBF_INVALID,
                      fmt::format("launch of {}: buffer {} has offset {} and size {}, where offsets are multiples of 8 and "
                                  "sizes above 0",
                                  kernel.name, i, buffer.offset, buffer.size),
                      buffer.region, buffer.offset);
        // What it does beyond what is said would be touched behind everybody's back.
        if ((buffer.access & ~all) != 0 || (kernel.access[i] & ~buffer.access) != 0)
            sdk::fail(HBF_INVALID,
                      fmt::format("launch of {}: buffer {} has access {}, where it needs {} (1 reads, 2 writes)",
                                  kernel.name, i, buffer.access, kernel.access[i]),
                      buffer.region, buffer.offset);
    }
}

} // namespace

Launcher::Launcher(DeviceKernels &kernels) : kernels_(kernels), own_(DeviceKernels::largest_id()) {}

void Launcher::check(const hbf_launch &launch) {
    const DeviceKernels::Known *const known = kernels_.known(launch.kernel);
    if (!known) sdk::fail(HBF_INVALID, fmt::format("launch: {} is no kernel that this device has found", launch.kernel));
    check_buffers(launch, *known->kernel);
    check_groups(launch, *known, kernels_.ability());
    Kernel &own = own_[launch.kernel - 1];
    if (own) return;
    cl_int code = CL_SUCCESS;
    own.reset(kernels_.cl().CreateKernel(known->built.program.get(), std::string(known->kernel->function).c_str(), &code));
    opencl::check(code, fmt::format("launch of {}: clCreateKernel", known->kernel->name));
}

cl_int Launcher::start(cl_command_queue queue, const hbf_launch &launch, const LaunchPlace *places, cl_uint wait_count,
                       const cl_event *waits, cl_event *event) noexcept {
    const Functions &cl = kernels_.cl();
    const cl_kernel kernel = own_[launch.kernel - 1].get();
    cl_int code = CL_SUCCESS;
    cl_uint at = 0;
    for (uint64_t i = 0; i < launch.buffer_count && code == CL_SUCCESS; ++i) {
        const LaunchPlace &place = places[i];
        code = place.memory ? cl.SetKernelArg(kernel, at, sizeof place.memory, &place.memory)
                            : cl.SetKernelArgSVMPointer(kernel, at, place.svm);
        const cl_ulong offset = place.offset;
        if (code == CL_SUCCESS) code = cl.SetKernelArg(kernel, at + 1, sizeof offset, &offset);
        at += 2;
    }
    if (code == CL_SUCCESS) code = cl.SetKernelArg(kernel, at, launch.arguments_size, launch.arguments);
    if (code != CL_SUCCESS) return code;
    size_t items[3], group[3];
    cl_uint dimensions = 1;
    for (cl_uint i = 0; i < 3; ++i) {
        group[i] = launch.group_size[i];
        items[i] = static_cast<size_t>(launch.groups[i]) * launch.group_size[i];
        if (items[i] > 1) dimensions = i + 1;
    }
    return cl.EnqueueNDRangeKernel(queue, kernel, dimensions, nullptr, items, group, wait_count, waits, event);
}

} // namespace hbf::opencl
