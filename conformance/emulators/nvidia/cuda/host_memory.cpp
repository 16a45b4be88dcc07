// SPDX-License-Identifier: Apache-2.0
// Reference, "Memory Management": memory of the host that devices reach.
#include "conformance/emulators/nvidia/cuda/attributes.hpp"
#include "conformance/emulators/nvidia/cuda/owned.hpp"
#include "conformance/emulators/nvidia/cuda/runtime.hpp"

namespace hbf::emulated::cuda {
namespace {

uint64_t number(const void *at) {
    return reinterpret_cast<uintptr_t>(at);
}

// The block of pinned memory that holds an address.
std::optional<model::BlockInfo> pinned(const void *at) {
    std::optional<model::BlockInfo> block = machine().memory().find(number(at));
    if (block && block->kind != model::MemoryKind::host && block->kind != model::MemoryKind::registered) block.reset();
    return block;
}

// What the profile says of the device's view of host memory, but for a machine that lies of it.
std::optional<model::Coherence> coherence(const Context &context) {
    const bool lies = machine().faults().on(model::Fault::coherence_lies, context.device->index());
    return lies ? std::optional(model::Coherence::software) : std::nullopt;
}

CUresult allocate(Call function, void **out, size_t size, unsigned int flags) {
    return in_context(function, [&](Context &context) -> CUresult {
        constexpr unsigned int known = HOSTALLOC_PORTABLE | HOSTALLOC_DEVICEMAP | HOSTALLOC_WRITECOMBINED;
        if (!out || size == 0 || (flags & ~known) != 0) return INVALID_VALUE;
        const model::Allocation made =
            machine().memory().allocate_host(context.device->index(), size, 0, flags, coherence(context));
        if (made.outcome != model::Outcome::ok) return refusal(made.outcome);
        own_memory(context, made.address);
        *out = reinterpret_cast<void *>(made.address);
        return SUCCESS;
    });
}

} // namespace

extern "C" {

CUresult cuMemHostAlloc(void **out, size_t size, unsigned int flags) {
    return allocate(Call::cuMemHostAlloc, out, size, flags);
}

CUresult cuMemAllocHost_v2(void **out, size_t size) {
    return allocate(Call::cuMemAllocHost_v2, out, size, 0);
}

CUresult cuMemFreeHost(void *at) {
    return in_context(Call::cuMemFreeHost, [&](Context &) -> CUresult {
        const std::optional<model::BlockInfo> block = pinned(at);
        if (!block || block->address != number(at) || block->kind != model::MemoryKind::host) return INVALID_VALUE;
        disown_memory(block->address);
        return refusal(machine().memory().free(block->address));
    });
}

// With unified addressing "the device pointer ... is always equal to the returned host pointer", and every allocation is
// mapped, whatever its flags.
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *out, void *at, unsigned int flags) {
    return in_context(Call::cuMemHostGetDevicePointer_v2, [&](Context &) -> CUresult {
        if (!out || flags != 0 || !pinned(at)) return INVALID_VALUE;
        *out = number(at);
        return SUCCESS;
    });
}

CUresult cuMemHostGetFlags(unsigned int *out, void *at) {
    return in_context(Call::cuMemHostGetFlags, [&](Context &) -> CUresult {
        const std::optional<model::BlockInfo> block = pinned(at);
        if (!out || !block || block->kind != model::MemoryKind::host) return INVALID_VALUE;
        *out =
            static_cast<unsigned int>(block->flags) | HOSTALLOC_DEVICEMAP; // "always ... on systems with unified addressing"
        return SUCCESS;
    });
}

// Whole pages. "The memory page-locked by this function must be unregistered"; registered twice is an error of its own.
CUresult cuMemHostRegister_v2(void *at, size_t size, unsigned int flags) {
    return in_context(Call::cuMemHostRegister_v2, [&](Context &context) -> CUresult {
        constexpr unsigned int known =
            HOSTREGISTER_PORTABLE | HOSTREGISTER_DEVICEMAP | HOSTREGISTER_IOMEMORY | HOSTREGISTER_READ_ONLY;
        if (!at || size == 0 || (flags & ~known) != 0) return INVALID_VALUE;
        if (!has(*context.device, HOST_REGISTER_SUPPORTED)) return NOT_SUPPORTED;
        if ((flags & HOSTREGISTER_IOMEMORY) != 0)
            return NOT_PERMITTED; // "if the memory is not MMIO space, or not permitted"
        const model::Outcome outcome =
            machine().memory().register_host(context.device->index(), at, size, flags, coherence(context));
        if (outcome == model::Outcome::busy) return HOST_MEMORY_ALREADY_REGISTERED;
        if (outcome != model::Outcome::ok) return refusal(outcome);
        own_memory(context, number(at), true);
        return SUCCESS;
    });
}

CUresult cuMemHostUnregister(void *at) {
    return in_context(Call::cuMemHostUnregister, [&](Context &) -> CUresult {
        if (!at) return INVALID_VALUE;
        const model::Outcome outcome = machine().memory().unregister_host(at);
        if (outcome == model::Outcome::unknown_address) return HOST_MEMORY_NOT_REGISTERED;
        if (outcome == model::Outcome::ok) disown_memory(number(at));
        return refusal(outcome);
    });
}

} // extern "C"
} // namespace hbf::emulated::cuda
