// SPDX-License-Identifier: Apache-2.0
// cn_api.h, "Queue Management".
#include <memory>

#include "conformance/emulators/cambricon/driver/driver.hpp"

namespace hbf::emulated::cn {
namespace {

struct HostCall {
    CNhostFn function;
    void *data;
};
// "The host function must not call CNDrv."
void run_host_call(void *argument) {
    const std::unique_ptr<HostCall> call(static_cast<HostCall *>(argument));
    in_callback = true;
    call->function(call->data);
    in_callback = false;
}

struct Callback {
    CNqueue queue;
    CNqueueCallback function;
    void *data;
};
// "Called after all tasks ahead of it are over, with their status": unlike a notifier.
void run_callback(void *argument) {
    const std::unique_ptr<Callback> callback(static_cast<Callback *>(argument));
    in_callback = true;
    callback->function(callback->queue, code(callback->queue->status()), callback->data);
    in_callback = false;
}

template <class T>
CNresult submit(model::Stream &stream, void (*run)(void *), std::unique_ptr<T> argument) {
    const model::Outcome outcome = stream.host_function(run, argument.get());
    if (outcome == model::Outcome::ok) (void)argument.release();
    return refusal(outcome);
}

CNresult create(Call function, CNqueue *queue, unsigned int flags, int priority) {
    return in_context(function, [&](Context &context) -> CNresult {
        if (!queue || flags != 0) return INVALID_VALUE;
        model::StreamOptions options;
        options.priority = priority;
        *queue = machine().create_stream(context.device->index(), options);
        return *queue ? SUCCESS : OPERATING_SYSTEM;
    });
}

} // namespace

extern "C" {

CNresult cnCreateQueue(CNqueue *queue, unsigned int flags) {
    return create(Call::cnCreateQueue, queue, flags, 0);
}
CNresult cnCreateQueueWithPriority(CNqueue *queue, unsigned int flags, int priority) {
    return create(Call::cnCreateQueueWithPriority, queue, flags, priority);
}

// "Returns at once; what was submitted is done first."
CNresult cnDestroyQueue(CNqueue queue) {
    return call(Call::cnDestroyQueue, [&]() -> CNresult {
        if (!queue || !machine().is_stream(queue)) return INVALID_HANDLE;
        machine().destroy_stream(queue);
        return SUCCESS;
    });
}

// "CN_ERROR_NOT_READY while a task is not over; an error if one of them failed."
CNresult cnQueryQueue(CNqueue queue) {
    return on_queue(Call::cnQueryQueue, queue, [](model::Stream &stream) { return code(stream.query()); });
}
CNresult cnQueueSync(CNqueue queue) {
    return on_queue(Call::cnQueueSync, queue, [](model::Stream &stream) { return code(stream.synchronize()); });
}

CNresult cnQueueAddCallback(CNqueue queue, CNqueueCallback callback, void *data, unsigned int flags) {
    return on_queue(Call::cnQueueAddCallback, queue, [&](model::Stream &stream) -> CNresult {
        if (!callback || flags != 0) return INVALID_VALUE;
        return submit(stream, run_callback, std::make_unique<Callback>(Callback{&stream, callback, data}));
    });
}

CNresult cnInvokeHostFunc(CNqueue queue, CNhostFn function, void *data) {
    return on_queue(Call::cnInvokeHostFunc, queue, [&](model::Stream &stream) -> CNresult {
        if (!function) return INVALID_VALUE;
        return submit(stream, run_host_call, std::make_unique<HostCall>(HostCall{function, data}));
    });
}

} // extern "C"

} // namespace hbf::emulated::cn
