// SPDX-License-Identifier: Apache-2.0
// Reference, "Primary Context Management" and "Context Management".
#include <array>
#include <mutex>

#include "conformance/emulators/nvidia/cuda/owned.hpp"
#include "conformance/emulators/nvidia/cuda/runtime.hpp"

namespace hbf::emulated::cuda {
namespace {

std::mutex mutex; // of retained and of the table

// The contexts that a thread has pushed; the last one is current.
struct Stack {
    std::array<Context *, 64> contexts;
    size_t size = 0;
};
thread_local Stack stack;

CUresult push(Context *context) {
    if (stack.size == stack.contexts.size()) return INVALID_VALUE;
    stack.contexts[stack.size++] = context;
    return SUCCESS;
}

// "The context is automatically reset once the last reference to it is released": all that was made in it goes.
void finish(Context &context) {
    context.active.store(false, std::memory_order_release);
    release_all_of(context);
}

} // namespace

Context *current() noexcept {
    return stack.size ? stack.contexts[stack.size - 1] : nullptr;
}

Context &primary(model::Device &device, CUdevice ordinal) {
    static std::array<Context *, 64> &all = *new std::array<Context *, 64>{};
    Context *&context = all[static_cast<size_t>(device.index())];
    if (!context) context = make<Context>(device, ordinal);
    return *context;
}

extern "C" {

// "Unlike cuCtxCreate() the newly retained context is not pushed onto the stack."
CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice ordinal) {
    return of_device(Call::cuDevicePrimaryCtxRetain, ordinal, [&](model::Device &device) -> CUresult {
        if (!out) return INVALID_VALUE;
        if (device.lost()) return code(device.status());
        std::lock_guard lock(mutex);
        Context &context = primary(device, ordinal);
        ++context.retained;
        context.active.store(true, std::memory_order_release);
        *out = &context;
        return SUCCESS;
    });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice ordinal) {
    return of_device(Call::cuDevicePrimaryCtxRelease_v2, ordinal, [&](model::Device &device) -> CUresult {
        std::lock_guard lock(mutex);
        Context &context = primary(device, ordinal);
        if (context.retained == 0) return INVALID_CONTEXT;
        if (--context.retained == 0) finish(context);
        return SUCCESS;
    });
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice ordinal) {
    return of_device(Call::cuDevicePrimaryCtxReset_v2, ordinal, [&](model::Device &device) -> CUresult {
        std::lock_guard lock(mutex);
        finish(primary(device, ordinal));
        return SUCCESS;
    });
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice ordinal, unsigned int flags) {
    return of_device(Call::cuDevicePrimaryCtxSetFlags_v2, ordinal, [&](model::Device &device) -> CUresult {
        if ((flags & ~CTX_FLAGS_MASK) != 0) return INVALID_VALUE;
        std::lock_guard lock(mutex);
        primary(device, ordinal).flags = flags;
        return SUCCESS;
    });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned int *flags, int *active) {
    return of_device(Call::cuDevicePrimaryCtxGetState, ordinal, [&](model::Device &device) -> CUresult {
        if (!flags || !active) return INVALID_VALUE;
        std::lock_guard lock(mutex);
        const Context &context = primary(device, ordinal);
        *flags = context.flags;
        *active = context.alive() ? 1 : 0;
        return SUCCESS;
    });
}

// "The context is created with a usage count of 1" and becomes the calling thread's current one.
CUresult cuCtxCreate_v2(CUcontext *out, unsigned int flags, CUdevice ordinal) {
    return of_device(Call::cuCtxCreate_v2, ordinal, [&](model::Device &device) -> CUresult {
        if (!out || (flags & ~CTX_FLAGS_MASK) != 0) return INVALID_VALUE;
        if (device.lost()) return code(device.status());
        auto *const context = make<Context>(device, ordinal);
        context->flags = flags;
        context->active.store(true, std::memory_order_release);
        *out = context;
        return push(context);
    });
}

CUresult cuCtxCreate_v4(CUcontext *out, CUctxCreateParams *parameters, unsigned int flags, CUdevice ordinal) {
    if (parameters && (parameters->affinity_count != 0 || parameters->cig))
        return call(Call::cuCtxCreate_v4, [] { return NOT_SUPPORTED; });
    calls().count(static_cast<size_t>(Call::cuCtxCreate_v4));
    return cuCtxCreate_v2(out, flags, ordinal);
}

// "If the context is current to the calling thread it will also be popped."
CUresult cuCtxDestroy_v2(CUcontext context) {
    return call(Call::cuCtxDestroy_v2, [&]() -> CUresult {
        if (!valid(context) || !context->alive()) return INVALID_CONTEXT;
        std::lock_guard lock(mutex);
        if (context == &primary(*context->device, context->ordinal)) return INVALID_CONTEXT;
        finish(*context);
        retire(context);
        if (current() == context) --stack.size;
        return SUCCESS;
    });
}

// "If ctx is NULL, the current context is popped from the stack if there is one"; else it takes its place.
CUresult cuCtxSetCurrent(CUcontext context) {
    return call(Call::cuCtxSetCurrent, [&]() -> CUresult {
        if (!context) {
            if (stack.size) --stack.size;
            return SUCCESS;
        }
        if (!valid(context)) return INVALID_CONTEXT;
        if (!context->alive()) return CONTEXT_IS_DESTROYED;
        if (stack.size) --stack.size;
        return push(context);
    });
}

CUresult cuCtxGetCurrent(CUcontext *out) {
    return call(Call::cuCtxGetCurrent, [&] { return give(out, current()); });
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
    return call(Call::cuCtxPushCurrent_v2, [&]() -> CUresult {
        if (!valid(context)) return INVALID_CONTEXT;
        return context->alive() ? push(context) : CONTEXT_IS_DESTROYED;
    });
}

CUresult cuCtxPopCurrent_v2(CUcontext *out) {
    return call(Call::cuCtxPopCurrent_v2, [&]() -> CUresult {
        if (!stack.size) return INVALID_CONTEXT;
        Context *const context = stack.contexts[--stack.size];
        if (out) *out = context;
        return SUCCESS;
    });
}

CUresult cuCtxGetDevice(CUdevice *out) {
    return call(Call::cuCtxGetDevice, [&]() -> CUresult {
        const Context *const context = current();
        return context ? give(out, context->ordinal) : INVALID_CONTEXT;
    });
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned int *version) {
    return call(Call::cuCtxGetApiVersion, [&]() -> CUresult {
        if (context && !valid(context)) return INVALID_CONTEXT;
        return give(version, static_cast<unsigned int>(driver_version()));
    });
}

// "Block for the current context's tasks to complete."
CUresult cuCtxSynchronize(void) {
    return in_context(Call::cuCtxSynchronize,
                      [&](Context &context) { return done(context, context.device->synchronize()); });
}

} // extern "C"
} // namespace hbf::emulated::cuda
