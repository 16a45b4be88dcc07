// SPDX-License-Identifier: Apache-2.0
// Device and managed memory.
#include "conformance/emulators/amd/hip/memory.hpp"

namespace hbf::emulated::hip {
namespace {

hipError_t take(const model::Allocation &made, void **out) {
    if (made.outcome != model::Outcome::ok) return refusal(made.outcome);
    *out = pointer_to(made.address);
    return hipSuccess;
}

hipError_t allocate(model::Device &device, void **out, size_t size, unsigned int flags) {
    if (!out) return hipErrorInvalidValue;
    *out = nullptr;
    if (size == 0) return hipSuccess; // header: "If size is 0, no memory is allocated, *ptr returns nullptr, and hipSuccess"
    if (size > machine().memory().usage(device.index()).total) return hipErrorOutOfMemory;
    return take(machine().memory().allocate_device(device.index(), size, 0, flags), out);
}

bool is_device_side(const model::BlockInfo &block) {
    return block.kind == model::MemoryKind::device || block.kind == model::MemoryKind::managed;
}

} // namespace

std::optional<model::BlockInfo> block_at(const void *pointer) {
    return machine().memory().find(address_of(pointer));
}

hipError_t give_back(const void *pointer, bool host) {
    if (!pointer) return hipSuccess; // header: "if ptr is NULL, no operation is performed"
    const std::optional<model::BlockInfo> block = block_at(pointer);
    if (!block || block->address != address_of(pointer)) return hipErrorInvalidValue;
    if (host ? block->kind != model::MemoryKind::host : !is_device_side(*block)) return hipErrorInvalidValue;
    return refusal(machine().memory().free(block->address));
}

extern "C" {

// Header, hipMalloc: coarse-grained by default; hipErrorOutOfMemory.
hipError_t hipMalloc(void **out, size_t size) {
    return on_device(Call::hipMalloc,
                     [&](model::Device &device) { return allocate(device, out, size, hipDeviceMallocDefault); });
}

// Header, hipExtMallocWithFlags: default (coarse), fine-grained, signal memory (8 bytes); 6.x: uncached and contiguous.
hipError_t hipExtMallocWithFlags(void **out, size_t size, unsigned int flags) {
    return on_device(Call::hipExtMallocWithFlags, [&](model::Device &device) -> hipError_t {
        const unsigned int newest = release().major >= 6 ? hipDeviceMallocContiguous : hipMallocSignalMemory;
        if (flags > newest) return hipErrorInvalidValue;
        if (flags == hipMallocSignalMemory && size != 8) return hipErrorInvalidValue; // "must be 8 bytes"
        return allocate(device, out, size, flags);
    });
}

// Header, hipMallocManaged: "allocates memory that will be automatically managed by AMD HMM"; attach global (the default) or
// host.
hipError_t hipMallocManaged(void **out, size_t size, unsigned int flags) {
    return on_device(Call::hipMallocManaged, [&](model::Device &device) -> hipError_t {
        if (!out || size == 0 || (flags != hipMemAttachGlobal && flags != hipMemAttachHost)) return hipErrorInvalidValue;
        return take(machine().memory().allocate_managed(device.index(), size, flags), out);
    });
}

// Header, hipFree: "implicit hipDeviceSynchronize"; hipErrorInvalidDevicePointer for memory of hipHostMalloc; what is
// nobody's is hipErrorInvalidValue.
hipError_t hipFree(void *pointer) {
    return started(Call::hipFree, [&]() -> hipError_t {
        if (const auto block = pointer ? block_at(pointer) : std::nullopt; block && !is_device_side(*block))
            return hipErrorInvalidDevicePointer;
        return give_back(pointer, false);
    });
}

// Header, hipMemGetInfo: "query memory info": free and total bytes of the current device.
hipError_t hipMemGetInfo(size_t *free, size_t *total) {
    return on_device(Call::hipMemGetInfo, [&](model::Device &device) -> hipError_t {
        if (!free && !total) return hipErrorInvalidValue;
        const model::Usage usage = machine().memory().usage(device.index());
        if (free) *free = usage.free;
        if (total) *total = usage.total;
        return hipSuccess;
    });
}

// Header, hipMemPtrGetInfo: the size of an allocation.
hipError_t hipMemPtrGetInfo(void *pointer, size_t *size) {
    return started(Call::hipMemPtrGetInfo, [&]() -> hipError_t {
        const auto block = block_at(pointer);
        return block ? give<size_t>(size, block->size) : hipErrorInvalidValue;
    });
}

// Header, hipMemGetAddressRange: base and size of the allocation that holds an address; hipErrorNotFound.
hipError_t hipMemGetAddressRange(hipDeviceptr_t *base, size_t *size, hipDeviceptr_t pointer) {
    return started(Call::hipMemGetAddressRange, [&]() -> hipError_t {
        const auto block = block_at(pointer);
        if (!block) return hipErrorNotFound;
        if (base) *base = pointer_to(block->address);
        if (size) *size = block->size;
        return hipSuccess;
    });
}

// Header, hipMallocAsync: "inserts a memory allocation operation into stream"; here it is there at once, which its users may
// not rely on and cannot see.
hipError_t hipMallocAsync(void **out, size_t size, hipStream_t handle) {
    return on_stream(Call::hipMallocAsync, handle, [&](model::Stream &stream) {
        return allocate(machine().device(stream.device()), out, size, hipDeviceMallocDefault);
    });
}

// Header, hipFreeAsync: "inserts a free operation into stream".
hipError_t hipFreeAsync(void *pointer, hipStream_t handle) {
    return on_stream(Call::hipFreeAsync, handle, [&](model::Stream &stream) -> hipError_t {
        const auto block = block_at(pointer);
        if (!block || block->address != address_of(pointer) || block->kind != model::MemoryKind::device)
            return hipErrorInvalidValue;
        model::Operation operation;
        operation.kind = model::Operation::Kind::free;
        operation.dst = block->address;
        return submitted(stream, std::move(operation));
    });
}

} // extern "C"
} // namespace hbf::emulated::hip
