// SPDX-License-Identifier: Apache-2.0
#include "plugins/opencl/memory/region.hpp"

#include <fmt/format.h>

#include "plugins/opencl/errors.hpp"

namespace hbf::opencl {

SvmBlock::SvmBlock(const Context &context, uint64_t size) : context_(context) {
    cl_svm_mem_flags flags = CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER;
    if (context.facts.svm & CL_DEVICE_SVM_ATOMICS) flags |= CL_MEM_SVM_ATOMICS;
    at_ = context.cl.SVMAlloc(context.context.get(), flags, size, 0);
    if (!at_) sdk::fail(HBF_EXHAUSTED, fmt::format("clSVMAlloc: the device gives no {} bytes of shared memory", size));
}

SvmBlock::~SvmBlock() {
    if (at_) context_.cl.SVMFree(context_.context.get(), at_);
}

PinnedBlock::PinnedBlock(Context &context, uint64_t size) : context_(context) {
    cl_int code = CL_SUCCESS;
    buffer_.reset(
        context.cl.CreateBuffer(context.context.get(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, size, nullptr, &code));
    check(code, "clCreateBuffer of pinned memory");
    const std::lock_guard lock(context.aside_mutex);
    at_ = context.cl.EnqueueMapBuffer(context.aside.get(), buffer_.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, size, 0,
                                      nullptr, nullptr, &code);
    check(code, "clEnqueueMapBuffer of pinned memory");
}

PinnedBlock::~PinnedBlock() {
    if (!at_) return;
    const std::lock_guard lock(context_.aside_mutex);
    context_.cl.EnqueueUnmapMemObject(context_.aside.get(), buffer_.get(), at_, 0, nullptr, nullptr);
    context_.cl.Finish(context_.aside.get());
}

} // namespace hbf::opencl
