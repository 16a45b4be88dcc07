// SPDX-License-Identifier: Apache-2.0
// Platforms, devices and contexts.
#include <csignal>
#include <cstring>

#include <unistd.h>

#include "plugins/opencl/tests/fake/fake.hpp"

using namespace hbf::opencl::fake;

namespace {

constexpr uint32_t most = 8;
_cl_platform_id platforms[most];
_cl_device_id devices[most][most];

template <class T>
cl_int list(uint32_t count, cl_uint room, T *out, cl_uint *needed, T (*at)(uint32_t index)) {
    for (uint32_t i = 0; out && i < count && i < room; ++i) out[i] = at(i);
    if (needed) *needed = count;
    return CL_SUCCESS;
}

cl_device_type type_of(const std::string &name) {
    return name == "cpu" ? CL_DEVICE_TYPE_CPU : name == "accelerator" ? CL_DEVICE_TYPE_ACCELERATOR : CL_DEVICE_TYPE_GPU;
}

cl_name_version named(const char *name, cl_version version) {
    cl_name_version out{};
    out.version = version;
    std::strncpy(out.name, name, sizeof out.name - 1);
    return out;
}

cl_int size_info(cl_device_info info, size_t size, void *out, size_t *needed) {
    const uint64_t memory = number("memory", 256 << 20);
    const size_t group = number("groups", 256), extents[3] = {group, group, group};
    switch (info) {
    case CL_DEVICE_GLOBAL_MEM_SIZE:
        return give<cl_ulong>(memory, size, out, needed);
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
        return give<cl_ulong>(number("largest", memory / 4), size, out, needed);
    case CL_DEVICE_LOCAL_MEM_SIZE:
        return give<cl_ulong>(number("local", 64 << 10), size, out, needed);
    case CL_DEVICE_MAX_PARAMETER_SIZE:
        return give<size_t>(1024, size, out, needed);
    case CL_DEVICE_MAX_COMPUTE_UNITS:
        return give<cl_uint>(2, size, out, needed);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
        return give<size_t>(group, size, out, needed);
    case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS:
        return give<cl_uint>(3, size, out, needed);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
        return give(extents, 3, size, out, needed);
    case CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE:
        return give<cl_uint>(64, size, out, needed);
    case CL_DEVICE_MEM_BASE_ADDR_ALIGN: // bits
        return give<cl_uint>(1024, size, out, needed);
    case CL_DEVICE_ADDRESS_BITS:
        return give<cl_uint>(64, size, out, needed);
    default:
        return CL_INVALID_VALUE;
    }
}

} // namespace

extern "C" {

cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *out, cl_uint *needed) {
    if (const cl_int code = wanted("clGetPlatformIDs")) return code;
    const auto count = static_cast<uint32_t>(std::min<uint64_t>(number("platforms", 1), most));
    if (count == 0) return CL_PLATFORM_NOT_FOUND_KHR;
    return list<cl_platform_id>(count, room, out, needed, [](uint32_t i) {
        platforms[i].index = i;
        return &platforms[i];
    });
}

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info info, size_t size, void *out, size_t *needed) {
    switch (info) {
    case CL_PLATFORM_NAME:
        return give("Fake platform " + std::to_string(platform->index), size, out, needed);
    case CL_PLATFORM_VENDOR:
        return give(std::string("a test"), size, out, needed);
    case CL_PLATFORM_VERSION:
        return give(setting("version", "OpenCL 3.0 fake"), size, out, needed);
    case CL_PLATFORM_PROFILE:
        return give(std::string("FULL_PROFILE"), size, out, needed);
    case CL_PLATFORM_EXTENSIONS:
        return give(std::string(), size, out, needed);
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id *out, cl_uint *needed) {
    if (const cl_int code = wanted("clGetDeviceIDs")) return code;
    if (number("crash", most) == platform->index) std::raise(SIGSEGV);
    while (number("hang", most) == platform->index) pause();
    if (number("error", most) == platform->index) return CL_OUT_OF_HOST_MEMORY;
    const auto count = static_cast<uint32_t>(std::min<uint64_t>(number("devices", 1), most));
    if (count == 0 || (type != CL_DEVICE_TYPE_ALL && (type & type_of(setting("type"))) == 0)) return CL_DEVICE_NOT_FOUND;
    for (uint32_t i = 0; i < count; ++i) {
        devices[platform->index][i].platform = platform->index;
        devices[platform->index][i].index = i;
        if (out && i < room) out[i] = &devices[platform->index][i];
    }
    if (needed) *needed = count;
    return CL_SUCCESS;
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info info, size_t size, void *out, size_t *needed) {
    const cl_name_version languages[] = {named("OpenCL C", CL_MAKE_VERSION(1, 2, 0)),
                                         named("OpenCL C", CL_MAKE_VERSION(3, 0, 0))};
    const cl_name_version features[] = {named("__opencl_c_atomic_order_acq_rel", CL_MAKE_VERSION(3, 0, 0)),
                                        named("__opencl_c_atomic_scope_device", CL_MAKE_VERSION(3, 0, 0))};
    switch (info) {
    case CL_DEVICE_PLATFORM:
        return give<cl_platform_id>(&platforms[device->platform], size, out, needed);
    case CL_DEVICE_TYPE:
        return give(type_of(setting("type")), size, out, needed);
    case CL_DEVICE_NAME:
        return give(setting("name", "Fake device " + std::to_string(device->index)), size, out, needed);
    case CL_DEVICE_VENDOR:
        return give(std::string("a test"), size, out, needed);
    case CL_DRIVER_VERSION:
        return give(setting("driver", "1.0"), size, out, needed);
    case CL_DEVICE_VERSION:
        return give(setting("version", "OpenCL 3.0 fake"), size, out, needed);
    case CL_DEVICE_OPENCL_C_VERSION:
        return give(std::string("OpenCL C 1.2 fake"), size, out, needed);
    case CL_DEVICE_PROFILE:
        return give(setting("profile", "FULL_PROFILE"), size, out, needed);
    case CL_DEVICE_EXTENSIONS:
        return give(setting("extensions", "cl_khr_int64_base_atomics cl_khr_fp16 cl_khr_fp64"), size, out, needed);
    case CL_DEVICE_OPENCL_C_ALL_VERSIONS:
        return give(languages, 2, size, out, needed);
    case CL_DEVICE_OPENCL_C_FEATURES:
        return give(features, number("c11", 1) != 0 ? 2 : 1, size, out, needed);
    case CL_DEVICE_AVAILABLE:
        return give<cl_bool>(CL_TRUE, size, out, needed);
    case CL_DEVICE_COMPILER_AVAILABLE:
        return give<cl_bool>(number("compiler", 1) != 0, size, out, needed);
    case CL_DEVICE_ENDIAN_LITTLE:
        return give<cl_bool>(number("little", 1) != 0, size, out, needed);
    case CL_DEVICE_HOST_UNIFIED_MEMORY:
        return give<cl_bool>(CL_TRUE, size, out, needed);
    case CL_DEVICE_SINGLE_FP_CONFIG:
        return give<cl_device_fp_config>(CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN, size, out, needed);
    case CL_DEVICE_SVM_CAPABILITIES:
        return give<cl_device_svm_capabilities>(0, size, out, needed);
    default:
        return size_info(info, size, out, needed);
    }
}

void *clGetExtensionFunctionAddressForPlatform(cl_platform_id, const char *) {
    return nullptr;
}

cl_context clCreateContext(const cl_context_properties *, cl_uint count, const cl_device_id *list,
                           void(CL_CALLBACK *)(const char *, const void *, size_t, void *), void *, cl_int *code) {
    if (const cl_int failure = wanted("clCreateContext")) return made<_cl_context>(nullptr, failure, code);
    if (count != 1) return made<_cl_context>(nullptr, CL_INVALID_VALUE, code);
    auto *const context = new _cl_context;
    context->device = list[0];
    return made(context, CL_SUCCESS, code);
}
cl_int clReleaseContext(cl_context context) {
    return release(context, CL_INVALID_CONTEXT);
}

} // extern "C"
