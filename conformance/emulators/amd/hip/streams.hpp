// SPDX-License-Identifier: Apache-2.0
// hipStream_t and hipEvent_t, and work that is put on a stream.
#pragma once

#include <utility>

#include "conformance/emulators/amd/hip/runtime.hpp"

namespace hbf::emulated::hip {

// The null stream of the thread's device, hipStreamPerThread (2), or a stream's handle; nullptr: none of these.
model::Stream *stream_of(hipStream_t handle);
model::Event *event_of(hipEvent_t handle);                               // nullptr: no event
hipError_t submitted(model::Stream &stream, model::Operation operation); // at the end of the stream

// A function that works on a stream, and so on the stream's device, whichever the thread's is.
template <class Work>
hipError_t on_stream(Call function, hipStream_t handle, Work &&work) noexcept {
    return started(function, [&]() -> hipError_t {
        model::Stream *const stream = stream_of(handle);
        if (!stream) return hipErrorInvalidHandle;
        if (const hipError_t broken = code(machine().device(stream->device()).status())) return broken;
        return work(*stream);
    });
}

} // namespace hbf::emulated::hip
