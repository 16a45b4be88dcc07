// SPDX-License-Identifier: Apache-2.0
// Programs: a text is known again by the catalogue; a binary is that text behind a mark, the driver's version in it.
#include <chrono>
#include <cstring>

#include "plugins/opencl/tests/fake/fake.hpp"

using namespace hbf::opencl::fake;
namespace device = hbf::kernels::device;

namespace {

std::string mark() {
    return "fake binary " + setting("driver", "1.0") + "\n";
}

const char *const complaint = "fake.cl:1:1: warning: this is said first\n"
                              "fake.cl:7:3: error: use of undeclared identifier 'nothing'\n"
                              "fake.cl:9:1: note: and this last\n";

void meet() {
    const uint64_t others = number("meet", 0);
    for (int tries = 0; others > 0 && traced("begun") < others; ++tries) {
        if (tries == 20000) std::abort(); // they do not come
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

} // namespace

_cl_kernel::~_cl_kernel() {
    clReleaseProgram(program);
}

extern "C" {

cl_program clCreateProgramWithSource(cl_context, cl_uint count, const char **texts, const size_t *sizes, cl_int *code) {
    if (const cl_int failure = wanted("clCreateProgramWithSource")) return made<_cl_program>(nullptr, failure, code);
    auto *const program = new _cl_program;
    for (cl_uint i = 0; i < count; ++i) program->text.append(texts[i], sizes ? sizes[i] : std::strlen(texts[i]));
    return made(program, CL_SUCCESS, code);
}

cl_program clCreateProgramWithBinary(cl_context, cl_uint, const cl_device_id *, const size_t *sizes,
                                     const unsigned char **binaries, cl_int *loaded, cl_int *code) {
    const std::string binary(reinterpret_cast<const char *>(binaries[0]), sizes[0]);
    const bool good = binary.starts_with(mark()) && setting("binary") != "refuse";
    if (loaded) *loaded = good ? CL_SUCCESS : CL_INVALID_BINARY;
    if (!good) return made<_cl_program>(nullptr, CL_INVALID_BINARY, code);
    auto *const program = new _cl_program;
    program->text = binary.substr(mark().size());
    program->from_binary = true;
    return made(program, CL_SUCCESS, code);
}

cl_int clBuildProgram(cl_program program, cl_uint, const cl_device_id *, const char *,
                      void(CL_CALLBACK *)(cl_program, void *), void *) {
    if (const cl_int code = wanted("clBuildProgram")) return code;
    if (program->from_binary && setting("binary") == "late") return CL_BUILD_PROGRAM_FAILURE;
    const std::string how = setting("build");
    if (!program->from_binary && how == "lost") return CL_DEVICE_NOT_AVAILABLE;
    if (!program->from_binary) {
        trace("begun");
        std::this_thread::sleep_for(std::chrono::milliseconds(number("slow", 0)));
        meet();
    }
    for (const device::Kernel &kernel : device::catalogue())
        if (kernel.source == program->text) program->kernel = &kernel;
    if (!program->kernel || (!program->from_binary && how == "fail")) {
        program->log = complaint;
        return CL_BUILD_PROGRAM_FAILURE;
    }
    trace((program->from_binary ? "binary " : "source ") + std::string(program->kernel->function));
    return CL_SUCCESS;
}

cl_int clGetProgramInfo(cl_program program, cl_program_info info, size_t size, void *out, size_t *needed) {
    const std::string binary = setting("binary") == "none" ? "" : mark() + program->text;
    if (info == CL_PROGRAM_BINARY_SIZES) return give(binary.size(), size, out, needed);
    if (info != CL_PROGRAM_BINARIES || size < sizeof(char *)) return CL_INVALID_VALUE;
    std::memcpy(*static_cast<unsigned char **>(out), binary.data(), binary.size());
    return CL_SUCCESS;
}
cl_int clGetProgramBuildInfo(cl_program program, cl_device_id, cl_program_build_info info, size_t size, void *out,
                             size_t *needed) {
    return info == CL_PROGRAM_BUILD_LOG ? give(program->log, size, out, needed) : CL_INVALID_VALUE;
}
cl_int clReleaseProgram(cl_program program) {
    return release(program, CL_INVALID_PROGRAM);
}

cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *code) {
    if (const cl_int failure = wanted("clCreateKernel")) return made<_cl_kernel>(nullptr, failure, code);
    if (!program->kernel || program->kernel->function != name)
        return made<_cl_kernel>(nullptr, CL_INVALID_KERNEL_NAME, code);
    auto *const kernel = new _cl_kernel;
    kernel->program = retain(program);
    return made(kernel, CL_SUCCESS, code);
}
cl_int clReleaseKernel(cl_kernel kernel) {
    return release(kernel, CL_INVALID_KERNEL);
}
cl_int clGetKernelInfo(cl_kernel kernel, cl_kernel_info info, size_t size, void *out, size_t *needed) {
    const cl_uint count = 2 * kernel->program->kernel->buffer_count + 1;
    return info == CL_KERNEL_NUM_ARGS ? give(count, size, out, needed) : CL_INVALID_VALUE;
}
cl_int clGetKernelWorkGroupInfo(cl_kernel, cl_device_id, cl_kernel_work_group_info info, size_t size, void *out,
                                size_t *needed) {
    return info == CL_KERNEL_WORK_GROUP_SIZE ? give<size_t>(number("groups", 256), size, out, needed) : CL_INVALID_VALUE;
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void *value) {
    const Own own;
    if (const cl_int code = wanted("clSetKernelArg")) return code;
    const device::Kernel &of = *kernel->program->kernel;
    if (index > 2 * of.buffer_count) return CL_INVALID_ARG_INDEX;
    const size_t expected = index == 2 * of.buffer_count ? of.arguments_size : 8;
    if (size != expected || !value) return CL_INVALID_ARG_SIZE;
    const auto me = std::this_thread::get_id();
    // The thread that sets the first one launches, or nobody does.
    if (kernel->setter == std::thread::id{})
        kernel->setter = me;
    else if (kernel->setter != me)
        return CL_INVALID_OPERATION;
    kernel->parameters[index].assign(static_cast<const char *>(value), size);
    return CL_SUCCESS;
}

} // extern "C"
