// SPDX-License-Identifier: Apache-2.0
// Fills: of device memory, and of what the device reaches. `count` is of elements, but hipMemset's of bytes.
#include "conformance/emulators/amd/hip/memory.hpp"

namespace hbf::emulated::hip {
namespace {

template <class Element>
hipError_t fill(Call call, void *to, Element value, size_t count, hipStream_t handle, bool wait) {
    return on_stream(call, handle, [&](model::Stream &stream) -> hipError_t {
        if (count == 0) return hipSuccess;
        if (!to || !block_at(to) || count > SIZE_MAX / sizeof value) return hipErrorInvalidValue;
        if (const hipError_t no = refusal(stream.fill(address_of(to), &value, sizeof value, count * sizeof value)))
            return no;
        return wait ? code(stream.synchronize()) : hipSuccess;
    });
}

} // namespace

extern "C" {

// Header, hipMemset: "fills the first sizeBytes bytes of the memory area pointed to by dest with the constant byte value".
hipError_t hipMemset(void *to, int value, size_t size) {
    return fill(Call::hipMemset, to, static_cast<uint8_t>(value), size, nullptr, true);
}
// Header, hipMemsetAsync: "may return before the memset is done" in a stream's order.
hipError_t hipMemsetAsync(void *to, int value, size_t size, hipStream_t handle) {
    return fill(Call::hipMemsetAsync, to, static_cast<uint8_t>(value), size, handle, false);
}
// Header, hipMemsetD8, hipMemsetD16, hipMemsetD32 and their asynchronous forms: a value, and how many of them.
hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, size_t count) {
    return fill(Call::hipMemsetD8, to, value, count, nullptr, true);
}
hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value, size_t count, hipStream_t handle) {
    return fill(Call::hipMemsetD8Async, to, value, count, handle, false);
}
hipError_t hipMemsetD16(hipDeviceptr_t to, unsigned short value, size_t count) {
    return fill(Call::hipMemsetD16, to, value, count, nullptr, true);
}
hipError_t hipMemsetD16Async(hipDeviceptr_t to, unsigned short value, size_t count, hipStream_t handle) {
    return fill(Call::hipMemsetD16Async, to, value, count, handle, false);
}
hipError_t hipMemsetD32(hipDeviceptr_t to, int value, size_t count) {
    return fill(Call::hipMemsetD32, to, value, count, nullptr, true);
}
hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value, size_t count, hipStream_t handle) {
    return fill(Call::hipMemsetD32Async, to, value, count, handle, false);
}

} // extern "C"
} // namespace hbf::emulated::hip
