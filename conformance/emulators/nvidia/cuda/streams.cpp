// SPDX-License-Identifier: Apache-2.0
// Reference, "Stream Management" and "Stream synchronization behavior".
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

#include "conformance/emulators/nvidia/cuda/owned.hpp"
#include "conformance/emulators/nvidia/cuda/runtime.hpp"

namespace hbf::emulated::cuda {

thread_local bool per_thread_default = false;

namespace {

constexpr int greatest_priority = -5, least_priority = 0;

// The default stream of a context: "the legacy default stream is an implicit stream which synchronizes with all other
// streams in the same CUcontext except for non-blocking streams". The device's own here.
Stream &legacy_of(Context &context) {
    static std::mutex mutex;
    static auto &all = *new std::map<Context *, Stream *>;
    std::lock_guard lock(mutex);
    Stream *&stream = all[&context];
    if (!stream) {
        stream = make<Stream>(context, &context.device->default_stream(), 0u, 0);
        stream->legacy = true;
    }
    return *stream;
}

unsigned long long next_id() {
    static std::atomic<unsigned long long> ids{2}; // 0 and 1 are those of the default streams
    return ids.fetch_add(1);
}

CUresult create(Call function, CUstream *out, unsigned int flags, int priority) {
    return in_context(function, [&](Context &context) -> CUresult {
        if (!out || (flags & ~unsigned{STREAM_NON_BLOCKING}) != 0) return INVALID_VALUE;
        model::StreamOptions options;
        options.waits_for_default = flags != STREAM_NON_BLOCKING;
        // "If the specified priority is outside the numerical range ... it will automatically be clamped".
        options.priority = std::min(std::max(priority, greatest_priority), least_priority);
        model::Stream *const stream = machine().create_stream(context.device->index(), options);
        if (!stream) return code(context.device->status());
        Stream *made = nullptr;
        or_undo([&] { made = make<Stream>(context, stream, flags, options.priority); },
                [&] { machine().destroy_stream(stream); });
        made->id = next_id();
        own(made);
        *out = made;
        return SUCCESS;
    });
}

// "The per-thread default stream is an implicit stream local to both the thread and the CUcontext"; it is a blocking one.
Stream *of_this_thread(Context &context) {
    struct Own {
        Stream *stream = nullptr;
        unsigned long long id = 0;
    };
    thread_local std::map<Context *, Own> streams;
    Own &own_one = streams[&context];
    Stream *&stream = own_one.stream;
    if (stream && stream->is(Stream::kind) && stream->id == own_one.id) return stream;
    model::Stream *const made = machine().create_stream(context.device->index(), {});
    if (!made) return nullptr;
    or_undo([&] { stream = make<Stream>(context, made, 0u, 0); }, [&] { machine().destroy_stream(made); });
    own_one.id = stream->id = next_id();
    own(stream);
    return stream;
}

template <class Work>
CUresult of_stream(Call function, CUstream handle, Work &&work) {
    return in_context(function, [&](Context &context) -> CUresult {
        Stream *const stream = stream_of(handle, context);
        return stream ? work(*stream) : INVALID_HANDLE;
    });
}

} // namespace

Stream *stream_of(CUstream handle, Context &context) {
    constexpr uintptr_t legacy = 1, per_thread = 2;
    const auto number = reinterpret_cast<uintptr_t>(handle);
    if (number == legacy || (number == 0 && !per_thread_default)) return &legacy_of(context);
    if (number == per_thread || number == 0) return of_this_thread(context);
    return valid(handle) ? handle : nullptr;
}

extern "C" {

CUresult cuStreamCreate(CUstream *out, unsigned int flags) {
    return create(Call::cuStreamCreate, out, flags, 0);
}

CUresult cuStreamCreateWithPriority(CUstream *out, unsigned int flags, int priority) {
    return create(Call::cuStreamCreateWithPriority, out, flags, priority);
}

// "The function will return immediately and the resources ... will be released automatically once the device has completed
// all work in hStream."
CUresult cuStreamDestroy_v2(CUstream handle) {
    return call(Call::cuStreamDestroy_v2, [&]() -> CUresult {
        if (!valid(handle) || handle->legacy) return INVALID_HANDLE;
        destroy(handle);
        return SUCCESS;
    });
}

CUresult cuStreamQuery(CUstream handle) {
    return of_stream(Call::cuStreamQuery, handle,
                     [](Stream &stream) { return done(*stream.context, stream.stream->query()); });
}

CUresult cuStreamSynchronize(CUstream handle) {
    return of_stream(Call::cuStreamSynchronize, handle,
                     [](Stream &stream) { return done(*stream.context, stream.stream->synchronize()); });
}

// "Makes all future work submitted to hStream wait for all work captured in hEvent", as it was captured at this time; the
// event "may be from a different context or device".
CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned int flags) {
    return of_stream(Call::cuStreamWaitEvent, handle, [&](Stream &stream) -> CUresult {
        if (!valid(event)) return INVALID_HANDLE;
        if (flags != 0) return INVALID_VALUE; // CU_EVENT_WAIT_EXTERNAL "is invalid outside of stream capture"
        return refusal(stream.stream->wait(*event->event));
    });
}

CUresult cuStreamGetFlags(CUstream handle, unsigned int *out) {
    return of_stream(Call::cuStreamGetFlags, handle, [&](Stream &stream) { return give(out, stream.flags); });
}

CUresult cuStreamGetPriority(CUstream handle, int *out) {
    return of_stream(Call::cuStreamGetPriority, handle, [&](Stream &stream) { return give(out, stream.priority); });
}

CUresult cuStreamGetId(CUstream handle, unsigned long long *out) {
    return of_stream(Call::cuStreamGetId, handle, [&](Stream &stream) { return give(out, stream.id); });
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext *out) {
    return of_stream(Call::cuStreamGetCtx, handle, [&](Stream &stream) { return give(out, stream.context); });
}

CUresult cuStreamGetDevice(CUstream handle, CUdevice *out) {
    return of_stream(Call::cuStreamGetDevice, handle, [&](Stream &stream) { return give(out, stream.context->ordinal); });
}

} // extern "C"
} // namespace hbf::emulated::cuda
