// SPDX-License-Identifier: Apache-2.0
// Pinned host memory: allocated, and the caller's own.
#include "conformance/emulators/amd/hip/coherence.hpp"
#include "conformance/emulators/amd/hip/memory.hpp"

namespace hbf::emulated::hip {
namespace {

constexpr unsigned int host_flags = hipHostMallocPortable | hipHostMallocMapped | hipHostMallocWriteCombined |
                                    hipHostMallocNumaUser | hipHostMallocCoherent | hipHostMallocNonCoherent;

hipError_t allocate_host(model::Device &device, void **out, size_t size, unsigned int flags) {
    if (!out) return hipErrorInvalidValue;
    *out = nullptr;
    // Header, hipHostMalloc: flags that are none, and "hipHostMallocCoherent and hipHostMallocNonCoherent" together.
    if (flags & ~host_flags) return hipErrorInvalidValue;
    if ((flags & hipHostMallocCoherent) && (flags & hipHostMallocNonCoherent)) return hipErrorInvalidValue;
    if (size == 0) return hipSuccess; // "If size is 0, no memory is allocated, *ptr returns nullptr, and hipSuccess"
    const model::Allocation made =
        machine().memory().allocate_host(device.index(), size, 0, flags, host_coherence(device, flags));
    if (made.outcome != model::Outcome::ok) return refusal(made.outcome);
    *out = pointer_to(made.address);
    return hipSuccess;
}

hipError_t pinned(Call call, void **out, size_t size, unsigned int flags) {
    return on_device(call, [&](model::Device &device) { return allocate_host(device, out, size, flags); });
}

bool is_pinned(const std::optional<model::BlockInfo> &block) {
    return block && (block->kind == model::MemoryKind::host || block->kind == model::MemoryKind::registered);
}

} // namespace

extern "C" {

// Header, hipHostMalloc: "allocate device accessible page locked host memory"; HIP documentation, "Coherence control":
// without a flag it is fine-grained.
hipError_t hipHostMalloc(void **out, size_t size, unsigned int flags) {
    return pinned(Call::hipHostMalloc, out, size, flags);
}
// Header, hipHostAlloc: the older name.
hipError_t hipHostAlloc(void **out, size_t size, unsigned int flags) {
    return pinned(Call::hipHostAlloc, out, size, flags);
}
// HIP 6.3, hipExtHostAlloc: the same.
hipError_t hipExtHostAlloc(void **out, size_t size, unsigned int flags) {
    return pinned(Call::hipExtHostAlloc, out, size, flags);
}
// Header, hipMallocHost: without flags.
hipError_t hipMallocHost(void **out, size_t size) {
    return pinned(Call::hipMallocHost, out, size, 0);
}
// Header, hipMemAllocHost: the same.
hipError_t hipMemAllocHost(void **out, size_t size) {
    return pinned(Call::hipMemAllocHost, out, size, 0);
}

// Header, hipHostFree: "free memory allocated by the HIP-Clang hip host memory allocation API"; it waits as hipFree does.
hipError_t hipHostFree(void *pointer) {
    return started(Call::hipHostFree, [&] { return give_back(pointer, true); });
}
// Header, hipFreeHost: the older name.
hipError_t hipFreeHost(void *pointer) {
    return started(Call::hipFreeHost, [&] { return give_back(pointer, true); });
}

// Header, hipHostRegister: portable, mapped, (6.x) read only and memory of I/O devices; hipErrorOutOfMemory where pages
// cannot be pinned. AMD's runtime takes a range that it knows already, but not a part of one: said as already registered.
hipError_t hipHostRegister(void *pointer, size_t size, unsigned int flags) {
    return on_device(Call::hipHostRegister, [&](model::Device &device) -> hipError_t {
        constexpr unsigned int known =
            hipHostRegisterPortable | hipHostRegisterMapped | hipHostRegisterIoMemory | hipHostRegisterReadOnly;
        if (!pointer || size == 0 || (flags & ~known)) return hipErrorInvalidValue;
        const model::Outcome outcome =
            machine().memory().register_host(device.index(), pointer, size, flags, host_coherence(device, 0));
        return outcome == model::Outcome::busy ? hipErrorHostMemoryAlreadyRegistered : refusal(outcome);
    });
}

// Header, hipHostUnregister: hipErrorHostMemoryNotRegistered.
hipError_t hipHostUnregister(void *pointer) {
    return started(Call::hipHostUnregister, [&] {
        const model::Outcome outcome = machine().memory().unregister_host(pointer);
        return outcome == model::Outcome::unknown_address ? hipErrorHostMemoryNotRegistered : refusal(outcome);
    });
}

// Header, hipHostGetDevicePointer: "get device pointer from host pointer"; on AMD they are the same number.
hipError_t hipHostGetDevicePointer(void **out, void *pointer, unsigned int flags) {
    return started(Call::hipHostGetDevicePointer, [&]() -> hipError_t {
        if (flags != 0) return hipErrorInvalidValue;
        return is_pinned(block_at(pointer)) ? give(out, pointer) : hipErrorInvalidValue;
    });
}

// Header, hipHostGetFlags: the flags of hipHostMalloc.
hipError_t hipHostGetFlags(unsigned int *out, void *pointer) {
    return started(Call::hipHostGetFlags, [&]() -> hipError_t {
        const auto block = block_at(pointer);
        return is_pinned(block) ? give(out, static_cast<unsigned int>(block->flags)) : hipErrorInvalidValue;
    });
}

} // extern "C"
} // namespace hbf::emulated::hip
