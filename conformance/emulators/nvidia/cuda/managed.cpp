// SPDX-License-Identifier: Apache-2.0
// Reference, "Unified Memory": memory that goes to whoever touches it.
#include "conformance/emulators/nvidia/cuda/attributes.hpp"
#include "conformance/emulators/nvidia/cuda/owned.hpp"
#include "conformance/emulators/nvidia/cuda/runtime.hpp"

namespace hbf::emulated::cuda {
namespace {

// "The memory range must refer to managed memory", or to any of the system's where the device reaches pageable memory.
CUresult range(Context &context, CUdeviceptr address, size_t size) {
    if (size == 0) return INVALID_VALUE;
    const std::optional<model::BlockInfo> block = machine().memory().find(address);
    if (!block) return has(*context.device, PAGEABLE_MEMORY_ACCESS) ? SUCCESS : INVALID_VALUE;
    if (block->kind != model::MemoryKind::managed || address + size > block->address + block->size) return INVALID_VALUE;
    return SUCCESS;
}

// Where advice and prefetches may point: a device that shares managed memory, or the host.
bool is_place(const CUmemLocation &location) {
    switch (location.type) {
    case LOCATION_DEVICE: {
        model::Device *const device = device_of(location.id);
        return device && has(*device, CONCURRENT_MANAGED_ACCESS);
    }
    case LOCATION_HOST:
    case LOCATION_HOST_NUMA:
    case LOCATION_HOST_NUMA_CURRENT:
        return true;
    default:
        return false;
    }
}

// Release 8.0 named the host by the number -1 (CU_DEVICE_CPU).
CUmemLocation place(CUdevice device) {
    return device == -1 ? CUmemLocation{LOCATION_HOST, 0} : CUmemLocation{LOCATION_DEVICE, device};
}

CUresult advise(Call function, CUdeviceptr address, size_t size, int advice, const CUmemLocation &location) {
    return in_context(function, [&](Context &context) -> CUresult {
        if (advice < 1 || advice > 6) return INVALID_VALUE;
        const bool names_place = advice >= 3; // "The location argument is ignored" for READ_MOSTLY
        if (names_place && !is_place(location)) return INVALID_DEVICE;
        return range(context, address, size);
    });
}

// In the stream's order; where the bytes lie cannot be told from what is read of them.
CUresult prefetch(Call function, CUdeviceptr address, size_t size, const CUmemLocation &location, unsigned int flags,
                  CUstream handle) {
    return in_context(function, [&](Context &context) -> CUresult {
        Stream *const stream = stream_of(handle, context);
        if (!stream) return INVALID_HANDLE;
        if (flags != 0) return INVALID_VALUE;
        if (!is_place(location)) return INVALID_DEVICE;
        if (const CUresult no = range(context, address, size)) return no;
        return stream->stream->submit(model::Operation{}) ? SUCCESS : code(context.device->status());
    });
}

} // namespace

extern "C" {

CUresult cuMemAllocManaged(CUdeviceptr *out, size_t size, unsigned int flags) {
    return in_context(Call::cuMemAllocManaged, [&](Context &context) -> CUresult {
        if (!out || size == 0 || (flags != ATTACH_GLOBAL && flags != ATTACH_HOST)) return INVALID_VALUE;
        if (!has(*context.device, MANAGED_MEMORY)) return NOT_SUPPORTED;
        const model::Allocation made = machine().memory().allocate_managed(context.device->index(), size, flags);
        if (made.outcome != model::Outcome::ok) return refusal(made.outcome);
        own_memory(context, made.address);
        *out = made.address;
        return SUCCESS;
    });
}

CUresult cuMemAdvise(CUdeviceptr address, size_t size, int advice, CUdevice device) {
    return advise(Call::cuMemAdvise, address, size, advice, place(device));
}

CUresult cuMemAdvise_v2(CUdeviceptr address, size_t size, int advice, CUmemLocation location) {
    return advise(Call::cuMemAdvise_v2, address, size, advice, location);
}

CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t size, CUdevice device, CUstream stream) {
    return prefetch(Call::cuMemPrefetchAsync, address, size, place(device), 0, stream);
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t size, CUmemLocation location, unsigned int flags,
                               CUstream stream) {
    return prefetch(Call::cuMemPrefetchAsync_v2, address, size, location, flags, stream);
}

} // extern "C"
} // namespace hbf::emulated::cuda
