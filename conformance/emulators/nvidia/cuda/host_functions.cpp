// SPDX-License-Identifier: Apache-2.0
// Reference, "Execution Control" and "Stream Management": functions of the host in a stream's order.
#include "conformance/emulators/nvidia/cuda/runtime.hpp"

namespace hbf::emulated::cuda {
namespace {

// A callback in flight. "For each cuStreamAddCallback call, the callback will be executed exactly once."
struct Callback {
    CUstreamCallback function;
    CUstream stream;
    void *data;
    bool ran = false;
};

// In its turn, if nothing ahead of it failed.
void run(void *argument) {
    auto &callback = *static_cast<Callback *>(argument);
    callback.ran = true;
    callback.function(callback.stream, SUCCESS, callback.data);
}

// "In the event of a device error, all subsequently executed callbacks will receive an appropriate CUresult."
void end(void *argument, model::Outcome outcome) {
    const std::unique_ptr<Callback> callback(static_cast<Callback *>(argument));
    if (!callback->ran) callback->function(callback->stream, code(outcome), callback->data);
}

} // namespace

extern "C" {

// "The function will not be called in the event of an error in the CUDA context."
CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void *data) {
    return in_context(Call::cuLaunchHostFunc, [&](Context &context) -> CUresult {
        Stream *const stream = stream_of(handle, context);
        if (!stream) return INVALID_HANDLE;
        return function ? refusal(stream->stream->host_function(function, data)) : INVALID_VALUE;
    });
}

// "The callback will block later work in the stream until it is finished."
CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback function, void *data, unsigned int flags) {
    return in_context(Call::cuStreamAddCallback, [&](Context &context) -> CUresult {
        Stream *const stream = stream_of(handle, context);
        if (!stream) return INVALID_HANDLE;
        if (!function || flags != 0) return INVALID_VALUE;
        model::Operation operation;
        auto argument = std::make_unique<Callback>(Callback{function, handle, data});
        operation.kind = model::Operation::Kind::host_function;
        operation.function = run;
        operation.argument = argument.get();
        operation.ended = end;
        operation.ended_argument = argument.get();
        if (!stream->stream->submit(std::move(operation))) return code(context.device->status());
        [[maybe_unused]] const Callback *const taken = argument.release(); // by its end
        return SUCCESS;
    });
}

} // extern "C"
} // namespace hbf::emulated::cuda
