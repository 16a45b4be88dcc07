// SPDX-License-Identifier: Apache-2.0
// Reference, "Stream Ordered Memory Allocator": the default pool of each device, and no other.
#include <array>
#include <mutex>

#include "conformance/emulators/nvidia/cuda/attributes.hpp"
#include "conformance/emulators/nvidia/cuda/owned.hpp"
#include "conformance/emulators/nvidia/cuda/runtime.hpp"

namespace hbf::emulated::cuda {
namespace {

enum PoolAttribute : int { reuse_first = 1, reuse_last = 3, release_threshold = 4, reserved_current = 5, used_high = 8 };

Pool &pool_of(model::Device &device) {
    static std::mutex mutex;
    static auto &all = *new std::array<Pool *, 64>{};
    std::lock_guard lock(mutex);
    Pool *&pool = all[static_cast<size_t>(device.index())];
    if (!pool) pool = make<Pool>(device);
    return *pool;
}

CUresult pool(Call function, CUmemoryPool *out, CUdevice ordinal) {
    return of_device(function, ordinal, [&](model::Device &device) -> CUresult {
        return has(device, MEMORY_POOLS_SUPPORTED) ? give(out, &pool_of(device)) : NOT_SUPPORTED;
    });
}

// "A pointer to the allocated memory is returned immediately"; it must not be used before the stream comes so far, nor on
// another stream that does not wait for this one. Here it can be: the machine cannot tell.
CUresult allocate(Call function, CUdeviceptr *out, size_t size, const model::Device *of_pool, CUstream handle) {
    return in_context(function, [&](Context &context) -> CUresult {
        Stream *const stream = stream_of(handle, context);
        if (!stream) return INVALID_HANDLE;
        if (!out || size == 0) return INVALID_VALUE;
        const model::Device &device = of_pool ? *of_pool : *stream->context->device;
        if (!has(*context.device, MEMORY_POOLS_SUPPORTED)) return NOT_SUPPORTED;
        const model::Allocation made = machine().memory().allocate_device(device.index(), size);
        if (made.outcome != model::Outcome::ok) return refusal(made.outcome);
        own_memory(context, made.address);
        *out = made.address;
        return SUCCESS;
    });
}

} // namespace

extern "C" {

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *out, CUdevice ordinal) {
    return pool(Call::cuDeviceGetDefaultMemPool, out, ordinal);
}

CUresult cuDeviceGetMemPool(CUmemoryPool *out, CUdevice ordinal) {
    return pool(Call::cuDeviceGetMemPool, out, ordinal);
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, void *value) {
    return call(Call::cuMemPoolSetAttribute, [&]() -> CUresult {
        if (!valid(pool) || !value) return INVALID_VALUE;
        if (attribute == release_threshold)
            pool->release_threshold = *static_cast<const uint64_t *>(value);
        else if (attribute < reuse_first || attribute > reuse_last)
            return INVALID_VALUE;
        return SUCCESS;
    });
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, int attribute, void *value) {
    return call(Call::cuMemPoolGetAttribute, [&]() -> CUresult {
        if (!valid(pool) || !value) return INVALID_VALUE;
        if (attribute >= reuse_first && attribute <= reuse_last)
            *static_cast<int *>(value) = 1; // "default value is enabled"
        else if (attribute == release_threshold)
            *static_cast<uint64_t *>(value) = pool->release_threshold;
        else if (attribute >= reserved_current && attribute <= used_high)
            return NOT_SUPPORTED;
        else
            return INVALID_VALUE;
        return SUCCESS;
    });
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t) {
    return call(Call::cuMemPoolTrimTo, [&]() -> CUresult { return valid(pool) ? SUCCESS : INVALID_VALUE; });
}

CUresult cuMemAllocAsync(CUdeviceptr *out, size_t size, CUstream stream) {
    return allocate(Call::cuMemAllocAsync, out, size, nullptr, stream);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t size, CUmemoryPool pool, CUstream stream) {
    if (!valid(pool)) return call(Call::cuMemAllocFromPoolAsync, [] { return INVALID_VALUE; });
    return allocate(Call::cuMemAllocFromPoolAsync, out, size, pool->device, stream);
}

// "The allocation must not be accessed after stream execution reaches the free."
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
    return in_context(Call::cuMemFreeAsync, [&](Context &context) -> CUresult {
        Stream *const stream = stream_of(handle, context);
        if (!stream) return INVALID_HANDLE;
        const std::optional<model::BlockInfo> block = machine().memory().find(address);
        if (!block || block->address != address || block->kind != model::MemoryKind::device || block->physical != 0)
            return INVALID_VALUE;
        disown_memory(address);
        model::Operation free;
        free.kind = model::Operation::Kind::free;
        free.dst = address;
        return stream->stream->submit(std::move(free)) ? SUCCESS : code(context.device->status());
    });
}

} // extern "C"
} // namespace hbf::emulated::cuda
