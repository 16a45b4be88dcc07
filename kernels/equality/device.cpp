// SPDX-License-Identifier: Apache-2.0
#include "kernels/equality/device.hpp"

#include "hbf/sdk/failure.hpp"
#include "plugins/opencl/errors.hpp"

namespace hbf::kernels {

using opencl::check;

std::vector<std::unique_ptr<Device>> Device::all() {
    const auto &cl = opencl::library();
    std::vector<std::unique_ptr<Device>> out;
    cl_uint count = 0;
    if (cl.GetPlatformIDs(0, nullptr, &count) != CL_SUCCESS) return out; // the loader's word for none at all
    std::vector<cl_platform_id> platforms(count);
    check(cl.GetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
    for (const auto platform : platforms) {
        if (cl.GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) continue;
        std::vector<cl_device_id> ids(count);
        check(cl.GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids.data(), nullptr), "clGetDeviceIDs");
        for (const auto id : ids) out.push_back(std::make_unique<Device>(id));
    }
    return out;
}

Device::Device(cl_device_id id) : id_(id), ability_(opencl::read_ability(cl_, id)) {
    cl_int code = CL_SUCCESS;
    context_ = cl_.CreateContext(nullptr, 1, &id_, nullptr, nullptr, &code);
    check(code, "clCreateContext");
    queue_ = cl_.CreateCommandQueue(context_, id_, 0, &code);
    check(code, "clCreateCommandQueue");
}

Device::~Device() {
    if (queue_) cl_.ReleaseCommandQueue(queue_);
    if (context_) cl_.ReleaseContext(context_);
}

Device::Built Device::build(const device::Kernel &kernel) {
    cl_int code = CL_SUCCESS;
    const char *text = kernel.source.data();
    const size_t size = kernel.source.size();
    Built built{cl_.CreateProgramWithSource(context_, 1, &text, &size, &code), nullptr};
    check(code, "clCreateProgramWithSource");
    code = cl_.BuildProgram(built.program, 1, &id_, opencl::build_options(ability_, kernel).c_str(), nullptr, nullptr);
    if (code == CL_BUILD_PROGRAM_FAILURE) {
        std::vector<char> log(1 << 16);
        size_t length = 0;
        cl_.GetProgramBuildInfo(built.program, id_, CL_PROGRAM_BUILD_LOG, log.size() - 1, log.data(), &length);
        sdk::fail(HBF_UNAVAILABLE, log.data());
    }
    check(code, "clBuildProgram");
    built.kernel = cl_.CreateKernel(built.program, std::string(kernel.function).c_str(), &code);
    check(code, "clCreateKernel");
    return built;
}

void Device::drop(const Built &built) {
    cl_.ReleaseKernel(built.kernel);
    cl_.ReleaseProgram(built.program);
}

void Device::launch(const Built &built, std::vector<std::vector<uint8_t>> &buffers, const std::vector<uint8_t> &arguments,
                    uint32_t groups, uint32_t group_size, uint64_t offset) {
    cl_int code = CL_SUCCESS;
    std::vector<cl_mem> memory;
    cl_uint argument = 0;
    for (auto &bytes : buffers) {
        memory.push_back(cl_.CreateBuffer(context_, CL_MEM_READ_WRITE, bytes.size() + offset, nullptr, &code));
        check(code, "clCreateBuffer");
        check(
            cl_.EnqueueWriteBuffer(queue_, memory.back(), CL_TRUE, offset, bytes.size(), bytes.data(), 0, nullptr, nullptr),
            "clEnqueueWriteBuffer");
        check(cl_.SetKernelArg(built.kernel, argument++, sizeof(cl_mem), static_cast<const void *>(&memory.back())),
              "clSetKernelArg");
        const cl_ulong first = offset;
        check(cl_.SetKernelArg(built.kernel, argument++, sizeof first, &first), "clSetKernelArg");
    }
    check(cl_.SetKernelArg(built.kernel, argument, arguments.size(), arguments.data()), "clSetKernelArg");
    const size_t local = group_size, global = size_t{groups} * group_size;
    check(cl_.EnqueueNDRangeKernel(queue_, built.kernel, 1, nullptr, &global, &local, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
    for (size_t i = 0; i < buffers.size(); ++i) {
        auto &bytes = buffers[i];
        check(cl_.EnqueueReadBuffer(queue_, memory[i], CL_TRUE, offset, bytes.size(), bytes.data(), 0, nullptr, nullptr),
              "clEnqueueReadBuffer");
        check(cl_.ReleaseMemObject(memory[i]), "clReleaseMemObject");
    }
}

} // namespace hbf::kernels
