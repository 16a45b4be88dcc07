// SPDX-License-Identifier: Apache-2.0
#include "conformance/emulators/amd/hip/events.hpp"

namespace hbf::emulated::hip {
namespace {

hipError_t make(Call call, hipEvent_t *out, unsigned int flags) {
    return on_device(call, [&](model::Device &) -> hipError_t {
        constexpr unsigned int known = hipEventBlockingSync | hipEventDisableTiming | hipEventInterprocess |
                                       hipEventDisableSystemFence | hipEventReleaseToDevice | hipEventReleaseToSystem;
        constexpr unsigned int release_both = hipEventReleaseToDevice | hipEventReleaseToSystem;
        // Header, hipEventCreateWithFlags: "hipErrorInvalidValue": unknown flags, and both ways to release.
        if (!out || (flags & ~known) || (flags & release_both) == release_both) return hipErrorInvalidValue;
        *out = reinterpret_cast<hipEvent_t>(machine().create_event(model::EventKind::mark, flags));
        return *out ? hipSuccess : hipErrorOutOfMemory;
    });
}

template <class Work>
hipError_t on_event(Call call, hipEvent_t handle, Work &&work) {
    return started(call, [&]() -> hipError_t {
        model::Event *const event = event_of(handle);
        return event ? work(*event) : hipErrorInvalidHandle;
    });
}

} // namespace

model::Event *event_of(hipEvent_t handle) {
    return handle && machine().is_event(handle) ? reinterpret_cast<model::Event *>(handle) : nullptr;
}

extern "C" {

// Header, hipEventCreate.
hipError_t hipEventCreate(hipEvent_t *out) {
    return make(Call::hipEventCreate, out, 0);
}
// Header, hipEventCreateWithFlags.
hipError_t hipEventCreateWithFlags(hipEvent_t *out, unsigned int flags) {
    return make(Call::hipEventCreateWithFlags, out, flags);
}

// Header, hipEventDestroy: "releases memory associated with the event"; work that waits for it goes on.
hipError_t hipEventDestroy(hipEvent_t handle) {
    return on_event(Call::hipEventDestroy, handle, [](model::Event &event) {
        machine().destroy_event(&event);
        return hipSuccess;
    });
}

// Header, hipEventRecord: "record an event in the specified stream"; "this call will overwrite any existing state in event".
hipError_t hipEventRecord(hipEvent_t handle, hipStream_t stream) {
    return on_stream(Call::hipEventRecord, stream, [&](model::Stream &on) -> hipError_t {
        model::Event *const event = event_of(handle);
        return event ? record(on, *event) : hipErrorInvalidHandle;
    });
}

// Header, hipEventQuery: "hipSuccess if all work in the appropriate stream (specified in the call to hipEventRecord) has
// completed. If any work in the stream has not completed it returns hipErrorNotReady"; hipErrorLaunchFailure and others
// where it failed.
hipError_t hipEventQuery(hipEvent_t handle) {
    return on_event(Call::hipEventQuery, handle, [](model::Event &event) { return code(event.query()); });
}

// Header, hipEventSynchronize: "if hipEventRecord() has not been called on event, this function returns hipSuccess".
hipError_t hipEventSynchronize(hipEvent_t handle) {
    return on_event(Call::hipEventSynchronize, handle, [](model::Event &event) { return code(event.synchronize()); });
}

// Header, hipEventElapsedTime: hipErrorInvalidHandle where one of them was not recorded or made without timing;
// hipErrorNotReady where one is not over.
hipError_t hipEventElapsedTime(float *out, hipEvent_t from, hipEvent_t to) {
    return on_event(Call::hipEventElapsedTime, from, [&](model::Event &begin) -> hipError_t {
        model::Event *const end = event_of(to);
        if (!out) return hipErrorInvalidValue;
        if (!end || ((begin.flags() | end->flags()) & hipEventDisableTiming) || !begin.recorded() || !end->recorded())
            return hipErrorInvalidHandle;
        if (begin.time_ns() == 0 || end->time_ns() == 0) return hipErrorNotReady;
        *out = static_cast<float>(static_cast<double>(static_cast<int64_t>(end->time_ns() - begin.time_ns())) * 1e-6);
        return hipSuccess;
    });
}

} // extern "C"
} // namespace hbf::emulated::hip
