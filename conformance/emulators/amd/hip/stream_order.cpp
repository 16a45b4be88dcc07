// SPDX-License-Identifier: Apache-2.0
// What a stream does beside copies and kernels: functions of the host, and values in memory.
#include <memory>

#include "conformance/emulators/amd/hip/memory.hpp"

namespace hbf::emulated::hip {
namespace {

struct Callback {
    hipStreamCallback_t function;
    hipStream_t stream;
    void *data;
    bool ran = false;
};

void call_back(void *argument) {
    auto &callback = *static_cast<Callback *>(argument);
    callback.ran = true;
    callback.function(callback.stream, hipSuccess, callback.data);
}
// Header, hipStreamAddCallback: the callback is given the stream's status: it is called, too, when what is ahead failed.
void called_back(void *argument, model::Outcome outcome) {
    const std::unique_ptr<Callback> callback(static_cast<Callback *>(argument));
    if (!callback->ran) callback->function(callback->stream, code(outcome), callback->data);
}

hipError_t write_value(Call call, hipStream_t handle, void *pointer, uint64_t value, uint64_t size) {
    return on_stream(call, handle, [&](model::Stream &stream) -> hipError_t {
        if (!pointer || address_of(pointer) % size != 0 || !block_at(pointer)) return hipErrorInvalidValue;
        model::Operation operation;
        operation.kind = model::Operation::Kind::write_value;
        operation.dst = address_of(pointer);
        operation.size = size;
        operation.value = value;
        return submitted(stream, std::move(operation));
    });
}

// A mask is supported where it covers all: what the model compares is the whole value.
hipError_t wait_value(Call call, hipStream_t handle, void *pointer, uint64_t value, unsigned int flags, bool whole,
                      uint64_t size) {
    return on_stream(call, handle, [&](model::Stream &stream) -> hipError_t {
        static constexpr model::Compare compares[] = {model::Compare::at_least, model::Compare::equal,
                                                      model::Compare::bits_set, model::Compare::any_clear};
        if (!pointer || address_of(pointer) % size != 0 || flags > 3 || !block_at(pointer)) return hipErrorInvalidValue;
        if (!whole) return hipErrorNotSupported;
        model::Operation operation;
        operation.kind = model::Operation::Kind::wait_value;
        operation.src = address_of(pointer);
        operation.size = size;
        operation.value = value;
        operation.compare = compares[flags];
        return submitted(stream, std::move(operation));
    });
}

} // namespace

extern "C" {

// Header, hipStreamAddCallback: "adds a callback to be called on the host after all currently enqueued items in the stream
// have completed"; flags are zero.
hipError_t hipStreamAddCallback(hipStream_t handle, hipStreamCallback_t function, void *data, unsigned int flags) {
    return on_stream(Call::hipStreamAddCallback, handle, [&](model::Stream &stream) -> hipError_t {
        if (!function || flags != 0) return hipErrorInvalidValue;
        auto callback = std::make_unique<Callback>(Callback{function, handle, data});
        model::Operation operation;
        operation.kind = model::Operation::Kind::host_function;
        operation.function = call_back;
        operation.argument = callback.get();
        operation.ended = called_back;
        operation.ended_argument = callback.get();
        const hipError_t result = submitted(stream, std::move(operation));
        if (result == hipSuccess) (void)callback.release();
        return result;
    });
}

// Header, hipLaunchHostFunc: "enqueues a host function call in a stream"; exported from 5.3 on.
hipError_t hipLaunchHostFunc(hipStream_t handle, hipHostFn_t function, void *data) {
    return on_stream(Call::hipLaunchHostFunc, handle, [&](model::Stream &stream) {
        return function ? refusal(stream.host_function(function, data)) : hipErrorInvalidValue;
    });
}

// Header, hipStreamWriteValue32: "write value ... after all earlier commands on this stream have completed".
hipError_t hipStreamWriteValue32(hipStream_t handle, void *pointer, uint32_t value, unsigned int) {
    return write_value(Call::hipStreamWriteValue32, handle, pointer, value, 4);
}
// Header, hipStreamWriteValue64.
hipError_t hipStreamWriteValue64(hipStream_t handle, void *pointer, uint64_t value, unsigned int) {
    return write_value(Call::hipStreamWriteValue64, handle, pointer, value, 8);
}
// Header, hipStreamWaitValue32: at least, equal, and, nor; "waits until *ptr & mask" compares.
hipError_t hipStreamWaitValue32(hipStream_t handle, void *pointer, uint32_t value, unsigned int flags, uint32_t mask) {
    return wait_value(Call::hipStreamWaitValue32, handle, pointer, value, flags, mask == UINT32_MAX, 4);
}
// Header, hipStreamWaitValue64.
hipError_t hipStreamWaitValue64(hipStream_t handle, void *pointer, uint64_t value, unsigned int flags, uint64_t mask) {
    return wait_value(Call::hipStreamWaitValue64, handle, pointer, value, flags, mask == UINT64_MAX, 8);
}

} // extern "C"
} // namespace hbf::emulated::hip
