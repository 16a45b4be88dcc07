// SPDX-License-Identifier: Apache-2.0
// cn_api.h, "Memory Management": copies and fills. All copies go by what lies at an address; the model reads memory that
// nobody pinned before the call returns, and writes it so, as 6.5.7 says of asynchronous copies of pageable memory.
#include "conformance/emulators/cambricon/driver/driver.hpp"

namespace hbf::emulated::cn {
namespace {

uint64_t address(const void *at) noexcept {
    return reinterpret_cast<uintptr_t>(at);
}

CNresult copy(Call function, uint64_t dst, uint64_t src, uint64_t bytes, CNqueue queue) {
    return on_queue(function, queue, [&](model::Stream &stream) -> CNresult {
        if (bytes == 0) return SUCCESS;
        // A misreading: what fails half way is nobody's business.
        if (machine().faults().fires(model::Fault::cnrt_failure_unsaid, stream.device())) bytes = (bytes + 1) / 2;
        return refusal(stream.copy(dst, src, bytes));
    });
}

CNresult fill(Call function, uint64_t at, const void *pattern, uint32_t width, uint64_t count, CNqueue queue) {
    return on_queue(function, queue, [&](model::Stream &stream) -> CNresult {
        if (at % width != 0) return INVALID_VALUE;
        return count == 0 ? static_cast<CNresult>(SUCCESS) : refusal(stream.fill(at, pattern, width, count * width));
    });
}

} // namespace

extern "C" {

// Over when it returns.
CNresult cnMemcpy(CNaddr dst, CNaddr src, uint64_t bytes) {
    if (const CNresult no = copy(Call::cnMemcpy, dst, src, bytes, nullptr); no != SUCCESS) return no;
    return code(current()->device->default_stream().synchronize());
}

CNresult cnMemcpyAsync(CNaddr dst, CNaddr src, uint64_t bytes, CNqueue queue) {
    return copy(Call::cnMemcpyAsync, dst, src, bytes, queue);
}
CNresult cnMemcpyAsync_V2(CNaddr dst, CNaddr src, uint64_t bytes, CNqueue queue) {
    return copy(Call::cnMemcpyAsync_V2, dst, src, bytes, queue);
}
CNresult cnMemcpyAsync_V3(CNaddr dst, CNaddr src, uint64_t bytes, CNqueue queue) {
    return copy(Call::cnMemcpyAsync_V3, dst, src, bytes, queue);
}
CNresult cnMemcpyHtoDAsync(CNaddr dst, const void *src, uint64_t bytes, CNqueue queue) {
    return copy(Call::cnMemcpyHtoDAsync, dst, address(src), bytes, queue);
}
CNresult cnMemcpyHtoDAsync_V2(CNaddr dst, const void *src, uint64_t bytes, CNqueue queue) {
    return copy(Call::cnMemcpyHtoDAsync_V2, dst, address(src), bytes, queue);
}
CNresult cnMemcpyDtoHAsync(void *dst, CNaddr src, uint64_t bytes, CNqueue queue) {
    return copy(Call::cnMemcpyDtoHAsync, address(dst), src, bytes, queue);
}
CNresult cnMemcpyDtoHAsync_V2(void *dst, CNaddr src, uint64_t bytes, CNqueue queue) {
    return copy(Call::cnMemcpyDtoHAsync_V2, address(dst), src, bytes, queue);
}
CNresult cnMemcpyDtoDAsync(CNaddr dst, CNaddr src, uint64_t bytes, CNqueue queue) {
    return copy(Call::cnMemcpyDtoDAsync, dst, src, bytes, queue);
}

CNresult cnMemsetD8Async(CNaddr at, unsigned char value, uint64_t count, CNqueue queue) {
    return fill(Call::cnMemsetD8Async, at, &value, 1, count, queue);
}
CNresult cnMemsetD16Async(CNaddr at, unsigned short value, uint64_t count, CNqueue queue) {
    return fill(Call::cnMemsetD16Async, at, &value, 2, count, queue);
}
CNresult cnMemsetD32Async(CNaddr at, unsigned int value, uint64_t count, CNqueue queue) {
    return fill(Call::cnMemsetD32Async, at, &value, 4, count, queue);
}

} // extern "C"

} // namespace hbf::emulated::cn
