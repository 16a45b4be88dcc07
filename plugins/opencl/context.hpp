// SPDX-License-Identifier: Apache-2.0
// One device in use: its context, and a command queue for what allocations need. And handles that are released.
#pragma once

#include <memory>
#include <mutex>
#include <type_traits>

#include "plugins/opencl/info.hpp"
#include "plugins/opencl/library.hpp"

namespace hbf::opencl {

template <auto Functions::*release>
struct Releaser {
    template <class T>
    void operator()(T *handle) const noexcept {
        (library().*release)(handle);
    }
};
template <class Handle, auto Functions::*release>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Releaser<release>>;

using OwnedContext = Owned<cl_context, &Functions::ReleaseContext>;
using OwnedQueue = Owned<cl_command_queue, &Functions::ReleaseCommandQueue>;
using OwnedBuffer = Owned<cl_mem, &Functions::ReleaseMemObject>;
using OwnedEvent = Owned<cl_event, &Functions::ReleaseEvent>;

struct Context {
    const Functions &cl;
    const cl_platform_id platform;
    const cl_device_id device;
    const DeviceFacts facts;
    OwnedContext context;
    std::mutex aside_mutex; // of `aside`
    OwnedQueue aside;       // in order; everything in it is waited for

    Context(const Functions &functions, cl_platform_id on_platform, cl_device_id on_device);

    OwnedQueue make_queue() const; // in order; throws
};

} // namespace hbf::opencl
