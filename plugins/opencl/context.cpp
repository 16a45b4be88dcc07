// SPDX-License-Identifier: Apache-2.0
#include "plugins/opencl/context.hpp"

#include "plugins/opencl/errors.hpp"

namespace hbf::opencl {
namespace {

OwnedContext make_context(const Functions &cl, cl_platform_id platform, cl_device_id device) {
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(platform), 0};
    cl_int code = CL_SUCCESS;
    OwnedContext made(cl.CreateContext(properties, 1, &device, nullptr, nullptr, &code));
    check(code, "clCreateContext");
    return made;
}

} // namespace

Context::Context(const Functions &functions, cl_platform_id on_platform, cl_device_id on_device)
    : cl(functions), platform(on_platform), device(on_device), facts(facts_of(functions, on_device)),
      context(make_context(functions, on_platform, on_device)), aside(make_queue()) {}

OwnedQueue Context::make_queue() const {
    cl_int code = CL_SUCCESS;
    OwnedQueue made;
    if (facts.at_least(2, 0) && cl.CreateCommandQueueWithProperties)
        made.reset(cl.CreateCommandQueueWithProperties(context.get(), device, nullptr, &code));
    else
        made.reset(cl.CreateCommandQueue(context.get(), device, 0, &code));
    check(code, "clCreateCommandQueue");
    return made;
}

} // namespace hbf::opencl
