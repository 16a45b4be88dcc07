// SPDX-License-Identifier: Apache-2.0
// Reference, "Execution Control": launches, and what is known of a function. The parameters of the project's kernels are,
// for each buffer, a pointer and an offset in bytes, and at last the arguments by value (kernels/device/portable.h).
#include <algorithm>
#include <cstring>

#include "conformance/emulators/nvidia/cuda/attributes.hpp"
#include "conformance/emulators/nvidia/cuda/runtime.hpp"
#include "kernels/device/catalogue.hpp"

namespace hbf::emulated::cuda {
namespace {

struct Shape {
    unsigned int groups[3], group[3];
    unsigned int shared;
};

// "CUDA_ERROR_INVALID_VALUE" for a grid or block of 0 or beyond the device's limits.
bool fits(const Shape &shape, model::Device &device) {
    uint64_t threads = 1;
    for (int i = 0; i < 3; ++i) {
        if (shape.groups[i] == 0 || shape.group[i] == 0) return false;
        if (shape.groups[i] > static_cast<unsigned>(*attribute_of(device, MAX_GRID_DIM_X + i))) return false;
        if (shape.group[i] > static_cast<unsigned>(*attribute_of(device, MAX_BLOCK_DIM_X + i))) return false;
        threads *= shape.group[i];
    }
    return threads <= static_cast<unsigned>(*attribute_of(device, MAX_THREADS_PER_BLOCK)) &&
           shape.shared <= static_cast<unsigned>(*attribute_of(device, MAX_SHARED_MEMORY_PER_BLOCK));
}

struct Parameter {
    size_t offset, size;
};

// As the kernel's compiler lays them out: 8-byte members, then the arguments, aligned to 8.
bool parameter(const kernels::device::Kernel &kernel, size_t index, Parameter &out) {
    const size_t words = size_t{2} * kernel.buffer_count;
    if (index > words) return false;
    out = {8 * index, index < words ? 8 : kernel.arguments_size};
    return true;
}

// CU_LAUNCH_PARAM_END 0, BUFFER_POINTER 1, BUFFER_SIZE 2.
const std::byte *packed(void **extra, size_t &size) {
    const std::byte *bytes = nullptr;
    size = 0;
    for (; *extra; extra += 2) {
        const auto name = reinterpret_cast<uintptr_t>(extra[0]);
        if (name == 1) bytes = static_cast<const std::byte *>(extra[1]);
        if (name == 2) size = *static_cast<const size_t *>(extra[1]);
    }
    return bytes;
}

// Reads them in the call: "the number of kernel parameters ... are retrieved directly from the kernel's image". False: too
// few.
bool take(const kernels::device::Kernel &kernel, void **parameters, void **extra, model::Launch &launch) {
    size_t size = 0;
    const std::byte *const bytes = extra ? packed(extra, size) : nullptr;
    if (!parameters && !bytes) return false;
    const auto read = [&](size_t index, void *to) {
        Parameter of{};
        parameter(kernel, index, of);
        if (!parameters && of.offset + of.size > size) return false;
        std::memcpy(to, parameters ? parameters[index] : bytes + of.offset, of.size);
        return true;
    };
    for (size_t i = 0; i < kernel.buffer_count; ++i) {
        uint64_t at = 0, offset = 0;
        if (!read(2 * i, &at) || !read(2 * i + 1, &offset)) return false;
        launch.buffers[i] = {at + offset, 0};
    }
    return read(size_t{2} * kernel.buffer_count, launch.arguments.data());
}

CUresult launch(Call call_of, CUfunction function, const Shape &shape, CUstream handle, void **parameters, void **extra) {
    return in_context(call_of, [&](Context &context) -> CUresult {
        Stream *const stream = stream_of(handle, context);
        if (!stream || !valid(function)) return INVALID_HANDLE;
        if (stream->context != &context) return INVALID_HANDLE; // of another context
        if (!fits(shape, *context.device) || (parameters && extra)) return INVALID_VALUE;
        const kernels::device::Kernel *const kernel = function->kernel;
        if (!kernel) return NOT_SUPPORTED; // there is no twin that could run
        auto made = std::make_unique<model::Launch>();
        made->kernel = kernel;
        std::copy_n(shape.groups, 3, made->groups);
        std::copy_n(shape.group, 3, made->group_size);
        if (!take(*kernel, parameters, extra, *made)) return INVALID_VALUE;
        const model::Outcome outcome = stream->stream->launch(std::move(made));
        // A wrong pointer is met by the kernel, not by the call.
        return outcome == model::Outcome::ok ? SUCCESS : code(outcome);
    });
}

template <class Work>
CUresult of_function(Call call_of, CUfunction function, Work &&work) {
    return call(call_of, [&]() -> CUresult { return valid(function) ? work(*function) : INVALID_HANDLE; });
}

} // namespace

extern "C" {

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                        unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared,
                        CUstream stream, void **parameters, void **extra) {
    return launch(Call::cuLaunchKernel, function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared}, stream,
                  parameters, extra);
}

// Of the attributes those that change no result are taken and do nothing: cluster shapes are refused.
CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra) {
    constexpr int cluster_dimension = 4;
    if (!config || (config->attribute_count != 0 && !config->attributes))
        return call(Call::cuLaunchKernelEx, [] { return INVALID_VALUE; });
    for (unsigned int i = 0; i < config->attribute_count; ++i)
        if (config->attributes[i].id == cluster_dimension) return call(Call::cuLaunchKernelEx, [] { return NOT_SUPPORTED; });
    return launch(Call::cuLaunchKernelEx, function,
                  {{config->grid_x, config->grid_y, config->grid_z},
                   {config->block_x, config->block_y, config->block_z},
                   config->shared_bytes},
                  config->stream, parameters, extra);
}

CUresult cuFuncGetAttribute(int *out, int attribute, CUfunction handle) {
    return of_function(Call::cuFuncGetAttribute, handle, [&](Function &function) -> CUresult {
        Context *const context = current();
        switch (attribute) {
        case FUNC_MAX_THREADS_PER_BLOCK:
            return context ? give(out, *attribute_of(*context->device, MAX_THREADS_PER_BLOCK)) : INVALID_CONTEXT;
        case FUNC_SHARED_SIZE_BYTES:
            return give(out, function.kernel ? static_cast<int>(function.kernel->local_size) : 0);
        case FUNC_NUM_REGS:
            return give(out, 32);
        case FUNC_PTX_VERSION:
            return give(out, function.module->ptx_version);
        case FUNC_BINARY_VERSION:
            return give(out, function.module->binary_version);
        case FUNC_CONST_SIZE_BYTES:
        case FUNC_LOCAL_SIZE_BYTES:
        case FUNC_CACHE_MODE_CA:
        case FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES:
            return give(out, 0);
        default:
            return INVALID_VALUE;
        }
    });
}

CUresult cuFuncSetAttribute(CUfunction handle, int attribute, int) {
    return of_function(Call::cuFuncSetAttribute, handle, [&](Function &) -> CUresult {
        return attribute == FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES ? NOT_SUPPORTED : INVALID_VALUE;
    });
}

CUresult cuFuncGetName(const char **out, CUfunction handle) {
    return of_function(Call::cuFuncGetName, handle, [&](Function &function) { return give(out, function.name.c_str()); });
}

CUresult cuFuncGetModule(CUmodule *out, CUfunction handle) {
    return of_function(Call::cuFuncGetModule, handle, [&](Function &function) { return give(out, function.module); });
}

CUresult cuFuncGetParamInfo(CUfunction handle, size_t index, size_t *offset, size_t *size) {
    return of_function(Call::cuFuncGetParamInfo, handle, [&](Function &function) -> CUresult {
        Parameter of{};
        if (!offset || !function.kernel || !parameter(*function.kernel, index, of)) return INVALID_VALUE;
        *offset = of.offset;
        if (size) *size = of.size;
        return SUCCESS;
    });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *out, CUfunction handle, int block, size_t) {
    return of_function(Call::cuOccupancyMaxActiveBlocksPerMultiprocessor, handle, [&](Function &) -> CUresult {
        Context *const context = current();
        if (!context) return INVALID_CONTEXT;
        if (block <= 0) return INVALID_VALUE;
        if (block > *attribute_of(*context->device, MAX_THREADS_PER_BLOCK)) return give(out, 0);
        return give(out, std::min(32, *attribute_of(*context->device, MAX_THREADS_PER_MULTIPROCESSOR) / block));
    });
}

} // extern "C"
} // namespace hbf::emulated::cuda
