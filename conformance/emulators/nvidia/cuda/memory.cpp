// SPDX-License-Identifier: Apache-2.0
// Reference, "Memory Management": device memory.
#include "conformance/emulators/nvidia/cuda/owned.hpp"
#include "conformance/emulators/nvidia/cuda/runtime.hpp"

namespace hbf::emulated::cuda {

extern "C" {

CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
    return in_context(Call::cuMemGetInfo_v2, [&](Context &context) -> CUresult {
        const model::Usage usage = machine().memory().usage(context.device->index());
        if (free) *free = usage.free;
        if (total) *total = usage.total;
        return SUCCESS;
    });
}

// "If bytesize is 0, cuMemAlloc() returns CUDA_ERROR_INVALID_VALUE"; "the memory is not cleared"; aligned "for any kind of
// variable", 256 bytes at least (programming guide, "Device memory accesses").
CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t size) {
    return in_context(Call::cuMemAlloc_v2, [&](Context &context) -> CUresult {
        if (!out || size == 0) return INVALID_VALUE;
        const model::Allocation made = machine().memory().allocate_device(context.device->index(), size);
        if (made.outcome != model::Outcome::ok) return refusal(made.outcome);
        own_memory(context, made.address);
        *out = made.address;
        return SUCCESS;
    });
}

// Of what cuMemAlloc and cuMemAllocManaged gave, or an asynchronous allocation. It "may perform implicit synchronization",
// so nobody can count on it.
CUresult cuMemFree_v2(CUdeviceptr address) {
    return in_context(Call::cuMemFree_v2, [&](Context &) -> CUresult {
        if (address == 0) return SUCCESS;
        const std::optional<model::BlockInfo> block = machine().memory().find(address);
        if (!block || block->address != address || block->physical != 0 ||
            (block->kind != model::MemoryKind::device && block->kind != model::MemoryKind::managed))
            return INVALID_VALUE;
        disown_memory(address);
        return refusal(machine().memory().free(address));
    });
}

// "If one of them is NULL, it is ignored."
CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr address) {
    return in_context(Call::cuMemGetAddressRange_v2, [&](Context &) -> CUresult {
        const std::optional<model::BlockInfo> block = machine().memory().find(address);
        if (!block || block->kind == model::MemoryKind::reserved) return NOT_FOUND;
        if (base) *base = block->address;
        if (size) *size = block->size;
        return SUCCESS;
    });
}

} // extern "C"
} // namespace hbf::emulated::cuda
