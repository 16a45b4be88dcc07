// SPDX-License-Identifier: Apache-2.0
// Copies. Where memory lies, its address says; the kind is the caller's claim.
#include "conformance/emulators/amd/hip/memory.hpp"

namespace hbf::emulated::hip {
namespace {

bool known_kind(int kind) {
    return (kind >= hipMemcpyHostToHost && kind <= hipMemcpyDefault) ||
           (kind == hipMemcpyDeviceToDeviceNoCU && release().major >= 6);
}

bool is_managed(const void *pointer) {
    const auto block = block_at(pointer);
    return block && block->kind == model::MemoryKind::managed;
}

hipError_t put(model::Stream &stream, void *to, const void *from, size_t size, int kind) {
    if (!known_kind(kind)) return hipErrorInvalidMemcpyDirection;
    if (size == 0) return hipSuccess;
    if (!to || !from) return hipErrorInvalidValue;
    // Whoever says "device to device" of managed memory asserts where it is.
    if ((kind == hipMemcpyDeviceToDevice || kind == hipMemcpyDeviceToDeviceNoCU) && (is_managed(to) || is_managed(from))) {
        model::Operation operation = model::Operation::copy(address_of(to), address_of(from), size);
        operation.as_device = true;
        return submitted(stream, std::move(operation));
    }
    return refusal(stream.copy(address_of(to), address_of(from), size));
}

hipError_t asynchronous(Call call, void *to, const void *from, size_t size, int kind, hipStream_t handle) {
    return on_stream(call, handle, [&](model::Stream &stream) { return put(stream, to, from, size, kind); });
}

// In the order of the stream, and over when the call returns. What failed before it shows, too.
hipError_t synchronous(Call call, void *to, const void *from, size_t size, int kind, hipStream_t handle) {
    return on_stream(call, handle, [&](model::Stream &stream) -> hipError_t {
        if (const hipError_t no = put(stream, to, from, size, kind)) return no;
        return code(stream.synchronize());
    });
}

hipError_t on_null(Call call, void *to, const void *from, size_t size, int kind) {
    return synchronous(call, to, from, size, kind, nullptr);
}

} // namespace

extern "C" {

// Header, hipMemcpy: "copy data from src to dst"; "it is synchronous with respect to the host".
hipError_t hipMemcpy(void *to, const void *from, size_t size, int kind) {
    return on_null(Call::hipMemcpy, to, from, size, kind);
}
// Header, hipMemcpyWithStream: in the order of a stream, and waited for.
hipError_t hipMemcpyWithStream(void *to, const void *from, size_t size, int kind, hipStream_t handle) {
    return synchronous(Call::hipMemcpyWithStream, to, from, size, kind, handle);
}
// Header, hipMemcpyAsync: "if host or dest are not pinned, the memory copy will be performed synchronously".
hipError_t hipMemcpyAsync(void *to, const void *from, size_t size, int kind, hipStream_t handle) {
    return asynchronous(Call::hipMemcpyAsync, to, from, size, kind, handle);
}

// Header, hipMemcpyHtoD, hipMemcpyDtoH, hipMemcpyDtoD: the same, the kind in the name.
hipError_t hipMemcpyHtoD(hipDeviceptr_t to, void *from, size_t size) {
    return on_null(Call::hipMemcpyHtoD, to, from, size, hipMemcpyHostToDevice);
}
hipError_t hipMemcpyDtoH(void *to, hipDeviceptr_t from, size_t size) {
    return on_null(Call::hipMemcpyDtoH, to, from, size, hipMemcpyDeviceToHost);
}
hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t size) {
    return on_null(Call::hipMemcpyDtoD, to, from, size, hipMemcpyDeviceToDevice);
}
// Header, hipMemcpyHtoDAsync, hipMemcpyDtoHAsync, hipMemcpyDtoDAsync.
hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, void *from, size_t size, hipStream_t handle) {
    return asynchronous(Call::hipMemcpyHtoDAsync, to, from, size, hipMemcpyHostToDevice, handle);
}
hipError_t hipMemcpyDtoHAsync(void *to, hipDeviceptr_t from, size_t size, hipStream_t handle) {
    return asynchronous(Call::hipMemcpyDtoHAsync, to, from, size, hipMemcpyDeviceToHost, handle);
}
hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, size_t size, hipStream_t handle) {
    return asynchronous(Call::hipMemcpyDtoDAsync, to, from, size, hipMemcpyDeviceToDevice, handle);
}

// Header, hipMemcpyPeer: "copies memory from one device to memory on another device", through the host where neither reaches
// the other.
hipError_t hipMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t size) {
    if (start() == hipSuccess && (!device_of(to_device) || !device_of(from_device)))
        return started(Call::hipMemcpyPeer, [] { return hipErrorInvalidDevice; });
    return on_null(Call::hipMemcpyPeer, to, from, size, hipMemcpyDefault);
}
// Header, hipMemcpyPeerAsync: in a stream's order.
hipError_t hipMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t size, hipStream_t handle) {
    if (start() == hipSuccess && (!device_of(to_device) || !device_of(from_device)))
        return started(Call::hipMemcpyPeerAsync, [] { return hipErrorInvalidDevice; });
    return asynchronous(Call::hipMemcpyPeerAsync, to, from, size, hipMemcpyDefault, handle);
}

} // extern "C"
} // namespace hbf::emulated::hip
