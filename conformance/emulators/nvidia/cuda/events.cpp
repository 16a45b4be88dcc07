// SPDX-License-Identifier: Apache-2.0
// Reference, "Event Management".
#include "conformance/emulators/nvidia/cuda/owned.hpp"
#include "conformance/emulators/nvidia/cuda/runtime.hpp"

namespace hbf::emulated::cuda {
namespace {

// An event is asked for without a current context, too; errors of its own context's work show.
template <class Work>
CUresult of_event(Call function, CUevent handle, Work &&work) {
    return call(function, [&]() -> CUresult {
        if (!valid(handle)) return INVALID_HANDLE;
        if (const CUresult broken = code(handle->context->device->status())) return broken;
        return work(*handle);
    });
}

// "hEvent and hStream must be from the same context otherwise CUDA_ERROR_INVALID_HANDLE is returned."
CUresult record(Call function, CUevent event, CUstream handle, unsigned int flags) {
    return in_context(function, [&](Context &context) -> CUresult {
        Stream *const stream = stream_of(handle, context);
        if (!stream || !valid(event) || stream->context != event->context) return INVALID_HANDLE;
        return flags == 0 ? refusal(stream->stream->record(*event->event)) : INVALID_VALUE;
    });
}

// "If cuEventRecord() has not been called on either event ... CUDA_ERROR_INVALID_HANDLE", also without timing; NOT_READY
// while one is not over.
CUresult elapsed(Call function, float *out, CUevent begin, CUevent end) {
    return call(function, [&]() -> CUresult {
        if (!out) return INVALID_VALUE;
        for (const Event *const event : {begin, end})
            if (!valid(event) || !event->event->recorded() || (event->flags & EVENT_DISABLE_TIMING) != 0)
                return INVALID_HANDLE;
        for (const Event *const event : {begin, end})
            if (event->event->query() == model::Outcome::pending) return NOT_READY;
        const auto ns = static_cast<int64_t>(end->event->time_ns() - begin->event->time_ns());
        *out = static_cast<float>(static_cast<double>(ns) / 1e6);
        return SUCCESS;
    });
}

} // namespace

extern "C" {

// "CU_EVENT_INTERPROCESS must be specified with CU_EVENT_DISABLE_TIMING"; it is not emulated.
CUresult cuEventCreate(CUevent *out, unsigned int flags) {
    return in_context(Call::cuEventCreate, [&](Context &context) -> CUresult {
        if (!out || (flags & ~unsigned{EVENT_BLOCKING_SYNC | EVENT_DISABLE_TIMING | EVENT_INTERPROCESS}) != 0)
            return INVALID_VALUE;
        if ((flags & EVENT_INTERPROCESS) != 0) return NOT_SUPPORTED;
        model::Event *const mark = machine().create_event(model::EventKind::mark, flags);
        Event *made = nullptr;
        or_undo([&] { made = make<Event>(context, mark, flags); }, [&] { machine().destroy_event(mark); });
        own(made);
        *out = made;
        return SUCCESS;
    });
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
    return record(Call::cuEventRecord, event, stream, 0);
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags) {
    return record(Call::cuEventRecordWithFlags, event, stream, flags);
}

// "Before the first call to cuEventRecord(), an event represents an empty set of work": SUCCESS.
CUresult cuEventQuery(CUevent handle) {
    return of_event(Call::cuEventQuery, handle, [](Event &event) { return done(*event.context, event.event->query()); });
}

CUresult cuEventSynchronize(CUevent handle) {
    return of_event(Call::cuEventSynchronize, handle,
                    [](Event &event) { return done(*event.context, event.event->synchronize()); });
}

CUresult cuEventElapsedTime(float *out, CUevent begin, CUevent end) {
    return elapsed(Call::cuEventElapsedTime, out, begin, end);
}

CUresult cuEventElapsedTime_v2(float *out, CUevent begin, CUevent end) {
    return elapsed(Call::cuEventElapsedTime_v2, out, begin, end);
}

// "An event may be destroyed before it is complete. In this case, the call does not block on completion of the event."
CUresult cuEventDestroy_v2(CUevent handle) {
    return call(Call::cuEventDestroy_v2, [&]() -> CUresult {
        if (!valid(handle)) return INVALID_HANDLE;
        destroy(handle);
        return SUCCESS;
    });
}

} // extern "C"
} // namespace hbf::emulated::cuda
