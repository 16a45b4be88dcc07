// SPDX-License-Identifier: Apache-2.0
// Reference, "Memory Management": memset. The pointer must be aligned to the element; "the memset functions are asynchronous
// with respect to the host except when the target memory is pinned host memory".
#include "conformance/emulators/nvidia/cuda/owned.hpp"
#include "conformance/emulators/nvidia/cuda/runtime.hpp"

namespace hbf::emulated::cuda {
namespace {

template <class Element>
CUresult fill(Call function, CUdeviceptr to, Element value, size_t count, CUstream handle, bool wait) {
    return in_context(function, [&](Context &context) -> CUresult {
        Stream *const stream = stream_of(handle, context);
        if (!stream) return INVALID_HANDLE;
        if (count == 0) return SUCCESS;
        if (to % sizeof value != 0 || count > SIZE_MAX / sizeof value) return INVALID_VALUE;
        const std::optional<model::BlockInfo> block = machine().memory().find(to);
        if (!block) return INVALID_VALUE;
        const model::Outcome outcome = stream->stream->fill(to, &value, sizeof value, count * sizeof value);
        if (outcome != model::Outcome::ok) return refusal(outcome);
        const bool on_host = block->kind == model::MemoryKind::host || block->kind == model::MemoryKind::registered;
        return wait && on_host ? done(context, stream->stream->synchronize()) : SUCCESS;
    });
}

} // namespace

extern "C" {

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
    return fill(Call::cuMemsetD8_v2, to, value, count, nullptr, true);
}
CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count) {
    return fill(Call::cuMemsetD16_v2, to, value, count, nullptr, true);
}
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned int value, size_t count) {
    return fill(Call::cuMemsetD32_v2, to, value, count, nullptr, true);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
    return fill(Call::cuMemsetD8Async, to, value, count, stream, false);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
    return fill(Call::cuMemsetD16Async, to, value, count, stream, false);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t count, CUstream stream) {
    return fill(Call::cuMemsetD32Async, to, value, count, stream, false);
}

} // extern "C"
} // namespace hbf::emulated::cuda
