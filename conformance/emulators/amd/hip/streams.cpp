// SPDX-License-Identifier: Apache-2.0
// Streams: made, waited for, destroyed.
#include "conformance/emulators/amd/hip/streams.hpp"

#include <algorithm>

#include "conformance/emulators/amd/hip/events.hpp"

namespace hbf::emulated::hip {
namespace {

constexpr uintptr_t per_thread = 2; // header: hipStreamPerThread ((hipStream_t)2)

hipStream_t handle_of(model::Stream *stream) {
    return reinterpret_cast<hipStream_t>(stream);
}

model::Stream *create(model::Device &device, unsigned int flags, int priority) {
    model::StreamOptions options;
    options.waits_for_default = !(flags & hipStreamNonBlocking);
    options.priority = priority;
    options.flags = flags;
    return machine().create_stream(device.index(), options);
}

hipError_t make(Call call, hipStream_t *out, unsigned int flags, int priority) {
    return on_device(call, [&](model::Device &device) -> hipError_t {
        if (!out || (flags & ~hipStreamNonBlocking)) return hipErrorInvalidValue;
        *out = handle_of(create(device, flags, std::clamp(priority, -1, 1)));
        return *out ? hipSuccess : hipErrorRuntimeOther;
    });
}

// One for each thread and device; it waits for the null stream, as a blocking stream. It ends with its thread.
class OwnStream {
public:
    ~OwnStream() {
        if (stream_ && machine().is_stream(stream_)) machine().destroy_stream(stream_);
    }
    model::Stream *get() {
        if (stream_ && stream_->device() != current().index()) {
            machine().destroy_stream(stream_);
            stream_ = nullptr;
        }
        if (!stream_) stream_ = create(current(), 0, 0);
        return stream_;
    }

private:
    model::Stream *stream_ = nullptr;
};

} // namespace

model::Stream *stream_of(hipStream_t handle) {
    if (!handle) return &current().default_stream();
    if (reinterpret_cast<uintptr_t>(handle) == per_thread) {
        thread_local OwnStream own;
        return own.get();
    }
    return machine().is_stream(handle) ? reinterpret_cast<model::Stream *>(handle) : nullptr;
}

hipError_t submitted(model::Stream &stream, model::Operation operation) {
    if (stream.submit(std::move(operation)) != 0) return hipSuccess;
    const hipError_t why = code(machine().device(stream.device()).status());
    return why != hipSuccess ? why : hipErrorRuntimeOther;
}

extern "C" {

// Header, hipStreamCreate: "create an asynchronous stream": blocking.
hipError_t hipStreamCreate(hipStream_t *out) {
    return make(Call::hipStreamCreate, out, 0, 0);
}
// Header, hipStreamCreateWithFlags: hipStreamDefault or hipStreamNonBlocking, else hipErrorInvalidValue.
hipError_t hipStreamCreateWithFlags(hipStream_t *out, unsigned int flags) {
    return make(Call::hipStreamCreateWithFlags, out, flags, 0);
}
// Header, hipStreamCreateWithPriority: "clamped" to the range of hipDeviceGetStreamPriorityRange.
hipError_t hipStreamCreateWithPriority(hipStream_t *out, unsigned int flags, int priority) {
    return make(Call::hipStreamCreateWithPriority, out, flags, priority);
}
// Header, hipExtStreamCreateWithCUMask: kernels on some compute units only: which, nobody can see here.
hipError_t hipExtStreamCreateWithCUMask(hipStream_t *out, uint32_t size, const uint32_t *mask) {
    if (size != 0 && mask) return make(Call::hipExtStreamCreateWithCUMask, out, 0, 0);
    return started(Call::hipExtStreamCreateWithCUMask, [] { return hipErrorInvalidValue; });
}

// Header, hipStreamDestroy: "the queue may be destroyed while some commands are still inflight, or may wait"; the null
// stream is hipErrorInvalidHandle.
hipError_t hipStreamDestroy(hipStream_t handle) {
    return started(Call::hipStreamDestroy, [&]() -> hipError_t {
        if (!handle || !machine().is_stream(handle)) return hipErrorInvalidHandle;
        auto *const stream = reinterpret_cast<model::Stream *>(handle);
        forget(*stream);
        machine().destroy_stream(stream);
        return hipSuccess;
    });
}

// Header, hipStreamQuery: "hipSuccess if all of the operations in the specified stream have completed, or hipErrorNotReady".
hipError_t hipStreamQuery(hipStream_t handle) {
    return started(Call::hipStreamQuery, [&]() -> hipError_t {
        model::Stream *const stream = stream_of(handle);
        return stream ? code(stream->query()) : hipErrorInvalidHandle;
    });
}

// Header, hipStreamSynchronize: "wait for all commands in stream to complete".
hipError_t hipStreamSynchronize(hipStream_t handle) {
    return started(Call::hipStreamSynchronize, [&]() -> hipError_t {
        model::Stream *const stream = stream_of(handle);
        return stream ? code(stream->synchronize()) : hipErrorInvalidHandle;
    });
}

// Header, hipStreamWaitEvent: "inserts a wait operation into the specified stream. All future work submitted to stream will
// wait until event reports completion"; flags are zero; an event that was never recorded holds nobody up.
hipError_t hipStreamWaitEvent(hipStream_t handle, hipEvent_t event, unsigned int flags) {
    return on_stream(Call::hipStreamWaitEvent, handle, [&](model::Stream &stream) -> hipError_t {
        model::Event *const mark = event_of(event);
        if (!mark) return hipErrorInvalidHandle;
        return flags != 0 ? hipErrorInvalidValue : refusal(stream.wait(*mark));
    });
}

// Header, hipStreamGetFlags.
hipError_t hipStreamGetFlags(hipStream_t handle, unsigned int *flags) {
    return started(Call::hipStreamGetFlags, [&]() -> hipError_t {
        model::Stream *const stream = stream_of(handle);
        return stream ? give(flags, static_cast<unsigned int>(stream->options().flags)) : hipErrorInvalidHandle;
    });
}

// Header, hipStreamGetPriority.
hipError_t hipStreamGetPriority(hipStream_t handle, int *priority) {
    return started(Call::hipStreamGetPriority, [&]() -> hipError_t {
        model::Stream *const stream = stream_of(handle);
        return stream ? give(priority, stream->options().priority) : hipErrorInvalidHandle;
    });
}

// hip_runtime_api.h, hipGetStreamDeviceId: "device id of the stream", -1 if it is none.
int hipGetStreamDeviceId(hipStream_t handle) {
    calls().count(static_cast<size_t>(Call::hipGetStreamDeviceId));
    if (start() != hipSuccess) return -1;
    const model::Stream *const stream = stream_of(handle);
    return stream ? ordinal_of(stream->device()) : -1;
}

} // extern "C"
} // namespace hbf::emulated::hip
