// SPDX-License-Identifier: Apache-2.0
// What a pointer is. The numbers of memory types changed: 1 is the device's in 5.x, the host's in 6.x.
#include "conformance/emulators/amd/hip/memory.hpp"

namespace hbf::emulated::hip {
namespace {

int type_of(const model::BlockInfo &block) {
    const bool newer = release().major >= 6;
    switch (block.kind) {
    case model::MemoryKind::device:
        return newer ? int{DEVICE6} : int{DEVICE5};
    case model::MemoryKind::managed:
        return newer ? int{MANAGED6} : int{DEVICE5};
    default:
        return newer ? int{HOST6} : int{HOST5};
    }
}

hipPointerAttribute_t describe(const model::BlockInfo &block, const void *pointer) {
    hipPointerAttribute_t out{};
    out.type = type_of(block);
    out.device = block.device >= 0 ? ordinal_of(block.device) : 0;
    out.device_pointer = pointer_to(address_of(pointer));
    if (block.kind != model::MemoryKind::device || block.cpu) out.host_pointer = out.device_pointer;
    out.managed = block.kind == model::MemoryKind::managed;
    out.allocation_flags = static_cast<unsigned int>(block.flags);
    return out;
}

template <class T>
hipError_t put(void *out, T value) {
    *static_cast<T *>(out) = value;
    return hipSuccess;
}

} // namespace

extern "C" {

// Header, hipPointerGetAttributes: hipErrorInvalidValue for memory that no runtime knows; from 6.0 on "unregistered" and
// success.
hipError_t hipPointerGetAttributes(hipPointerAttribute_t *out, const void *pointer) {
    return started(Call::hipPointerGetAttributes, [&]() -> hipError_t {
        if (!out || !pointer) return hipErrorInvalidValue;
        if (const auto block = block_at(pointer); block && block->kind != model::MemoryKind::reserved) {
            *out = describe(*block, pointer);
            return hipSuccess;
        }
        if (release().major < 6) return hipErrorInvalidValue;
        *out = {UNREGISTERED6, -2, nullptr, nullptr, 0, 0}; // -2: hipInvalidDeviceId
        return hipSuccess;
    });
}

// Header, hipPointerGetAttribute: hipErrorNotSupported for what AMD's runtime does not know (context, P2P tokens).
hipError_t hipPointerGetAttribute(void *out, int attribute, hipDeviceptr_t pointer) {
    return started(Call::hipPointerGetAttribute, [&]() -> hipError_t {
        const auto block = out && pointer ? block_at(pointer) : std::nullopt;
        if (!block || block->kind == model::MemoryKind::reserved) return hipErrorInvalidValue;
        const hipPointerAttribute_t all = describe(*block, pointer);
        switch (attribute) {
        case POINTER_MEMORY_TYPE:
            return put(out, all.type);
        case POINTER_DEVICE_POINTER:
            return put(out, all.device_pointer);
        case POINTER_HOST_POINTER:
            return all.host_pointer ? put(out, all.host_pointer) : hipErrorInvalidValue;
        case POINTER_BUFFER_ID:
            return put(out, block->id);
        case POINTER_IS_MANAGED:
            return put(out, all.managed != 0);
        case POINTER_DEVICE_ORDINAL:
            return put(out, all.device);
        case POINTER_RANGE_START:
            return put(out, pointer_to(block->address));
        case POINTER_RANGE_SIZE:
            return put(out, static_cast<size_t>(block->size));
        default:
            return hipErrorNotSupported;
        }
    });
}

} // extern "C"
} // namespace hbf::emulated::hip
