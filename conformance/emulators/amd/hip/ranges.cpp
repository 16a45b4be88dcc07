// SPDX-License-Identifier: Apache-2.0
// Advice about ranges of managed memory, and what is known of ranges.
#include "conformance/emulators/amd/hip/coherence.hpp"
#include "conformance/emulators/amd/hip/memory.hpp"

namespace hbf::emulated::hip {
namespace {

// A range that lies in one block.
std::optional<model::BlockInfo> range_at(const void *pointer, size_t size) {
    auto block = pointer && size ? block_at(pointer) : std::nullopt;
    if (!block || block->kind == model::MemoryKind::reserved || size > block->address + block->size - address_of(pointer))
        return std::nullopt;
    return block;
}

// Header, hipMemRangeAttribute: each is an int32_t. Nothing here moves by itself, so nothing is advised for good.
hipError_t range_attribute(void *out, size_t size, int attribute, const void *pointer, size_t count) {
    const auto block = out && size == sizeof(int32_t) ? range_at(pointer, count) : std::nullopt;
    if (!block) return hipErrorInvalidValue;
    constexpr int32_t nowhere = -2; // hipInvalidDeviceId
    switch (attribute) {
    case RANGE_READ_MOSTLY:
        return give(static_cast<int32_t *>(out), 0);
    case RANGE_PREFERRED_LOCATION:
    case RANGE_ACCESSED_BY:
    case RANGE_LAST_PREFETCH:
        return give(static_cast<int32_t *>(out), nowhere);
    case RANGE_COHERENCY_MODE:
        return give(static_cast<int32_t *>(out), static_cast<int32_t>(mode_of(*block)));
    default:
        return hipErrorInvalidValue;
    }
}

bool known_advice(int advice) {
    return (advice >= 1 && advice <= 6) || advice == SET_COARSE_GRAIN || advice == UNSET_COARSE_GRAIN;
}

} // namespace

extern "C" {

// Header, hipMemAdvise: "advise about the usage of a given range of memory to AMD HMM": a hint.
hipError_t hipMemAdvise(const void *pointer, size_t count, int advice, int device) {
    return started(Call::hipMemAdvise, [&]() -> hipError_t {
        if (device != -1 && !device_of(device)) return hipErrorInvalidDevice; // -1: hipCpuDeviceId
        return known_advice(advice) && range_at(pointer, count) ? hipSuccess : hipErrorInvalidValue;
    });
}

// Header, hipMemPrefetchAsync: "prefetches memory to the specified destination device using AMD HMM": in the stream's order,
// and bytes stay what they are.
hipError_t hipMemPrefetchAsync(const void *pointer, size_t count, int device, hipStream_t handle) {
    return on_stream(Call::hipMemPrefetchAsync, handle, [&](model::Stream &stream) -> hipError_t {
        if (device != -1 && !device_of(device)) return hipErrorInvalidDevice;
        const auto block = range_at(pointer, count);
        if (!block || block->kind != model::MemoryKind::managed) return hipErrorInvalidValue;
        return submitted(stream, model::Operation{});
    });
}

// Header, hipMemRangeGetAttribute: "query an attribute of a given memory range in AMD HMM".
hipError_t hipMemRangeGetAttribute(void *out, size_t size, int attribute, const void *pointer, size_t count) {
    return started(Call::hipMemRangeGetAttribute, [&] { return range_attribute(out, size, attribute, pointer, count); });
}

// Header, hipMemRangeGetAttributes: several at once.
hipError_t hipMemRangeGetAttributes(void **out, size_t *sizes, int *attributes, size_t how_many, const void *pointer,
                                    size_t count) {
    return started(Call::hipMemRangeGetAttributes, [&]() -> hipError_t {
        if (!out || !sizes || !attributes || how_many == 0) return hipErrorInvalidValue;
        for (size_t i = 0; i < how_many; ++i)
            if (const hipError_t no = range_attribute(out[i], sizes[i], attributes[i], pointer, count)) return no;
        return hipSuccess;
    });
}

// Header, hipStreamAttachMemAsync: managed memory only; an ordering hint.
hipError_t hipStreamAttachMemAsync(hipStream_t handle, void *pointer, size_t length, unsigned int flags) {
    return on_stream(Call::hipStreamAttachMemAsync, handle, [&](model::Stream &stream) -> hipError_t {
        const auto block = block_at(pointer);
        if (!block || block->kind != model::MemoryKind::managed || (length != 0 && length != block->size) || flags > 4)
            return hipErrorInvalidValue;
        return submitted(stream, model::Operation{});
    });
}

} // extern "C"
} // namespace hbf::emulated::hip
