// SPDX-License-Identifier: Apache-2.0
// Buffers.
#include <cstring>

#include "plugins/opencl/tests/fake/fake.hpp"

using namespace hbf::opencl::fake;

_cl_mem::~_cl_mem() {
    if (parent) clReleaseMemObject(parent);
}

extern "C" {

cl_mem clCreateBuffer(cl_context, cl_mem_flags flags, size_t size, void *host, cl_int *code) {
    if (const cl_int failure = wanted("clCreateBuffer")) return made<_cl_mem>(nullptr, failure, code);
    cl_ulong largest = number("largest", number("memory", 256 << 20) / 4);
    if (size == 0 || size > largest) return made<_cl_mem>(nullptr, CL_INVALID_BUFFER_SIZE, code);
    auto *const memory = new _cl_mem;
    memory->size = size;
    if (flags & CL_MEM_USE_HOST_PTR) {
        memory->bytes = static_cast<unsigned char *>(host);
    } else {
        constexpr size_t line = 128;
        memory->own.reset(new unsigned char[size + line]);
        memory->bytes = memory->own.get() + (line - reinterpret_cast<uintptr_t>(memory->own.get()) % line);
        if (flags & CL_MEM_COPY_HOST_PTR)
            std::memcpy(memory->bytes, host, size);
        else
            std::memset(memory->bytes, 0xa5, size); // what a device leaves behind
    }
    return made(memory, CL_SUCCESS, code);
}

cl_mem clCreateSubBuffer(cl_mem parent, cl_mem_flags, cl_buffer_create_type type, const void *info, cl_int *code) {
    const auto *const region = static_cast<const cl_buffer_region *>(info);
    if (type != CL_BUFFER_CREATE_TYPE_REGION || parent->parent || region->origin + region->size > parent->size)
        return made<_cl_mem>(nullptr, CL_INVALID_VALUE, code);
    if (region->origin % 128 != 0) return made<_cl_mem>(nullptr, CL_MISALIGNED_SUB_BUFFER_OFFSET, code);
    auto *const memory = new _cl_mem;
    memory->parent = retain(parent);
    memory->bytes = parent->bytes + region->origin;
    memory->size = region->size;
    return made(memory, CL_SUCCESS, code);
}

cl_int clReleaseMemObject(cl_mem memory) {
    return release(memory, CL_INVALID_MEM_OBJECT);
}

cl_int clGetMemObjectInfo(cl_mem memory, cl_mem_info info, size_t size, void *out, size_t *needed) {
    return info == CL_MEM_SIZE ? give(memory->size, size, out, needed) : CL_INVALID_VALUE;
}

} // extern "C"
