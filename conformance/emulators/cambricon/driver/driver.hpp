// SPDX-License-Identifier: Apache-2.0
// The driver of this process: what every function begins with, the devices that it shows, each thread's current context.
#pragma once

#include <new>
#include <vector>

#include "conformance/emulators/calls/calls.hpp"
#include "conformance/emulators/cambricon/driver/functions.hpp"
#include "conformance/sim/model/machine.hpp"

namespace hbf::emulated::cn {

// An index of calls(): the functions of functions.inc, then those of unsupported.inc.
enum class Call : uint32_t {
#define F(name, parameters) name,
#include "conformance/emulators/cambricon/driver/functions.inc"
#undef F
    supported,
};
Calls &calls();

// The shared context of a device: CNRT knows no other.
struct Context {
    model::Device *device;
    int ordinal;
};

CNresult initialize() noexcept;     // what cnInit says; the first call decides
CNresult ready() noexcept;          // SUCCESS, or why nothing can be done: no cnInit yet
model::Machine &machine() noexcept; // once ready
int device_count() noexcept;
Context *context_of(CNdev device) noexcept; // nullptr: there is none
Context *current() noexcept;                // of this thread, or nullptr
void set_current(Context *context) noexcept;

CNresult code(model::Outcome outcome) noexcept;    // of work that ran
CNresult refusal(model::Outcome outcome) noexcept; // of a call that was refused before anything ran
const char *name_of(CNresult result) noexcept;
const char *words_of(CNresult result) noexcept;

// BANG C/C++ guide 6.5.11: a host function must call neither CNRT nor CNDrv.
extern thread_local bool in_callback;

template <class Work>
CNresult call(Call function, Work &&work) noexcept {
    calls().count(static_cast<size_t>(function));
    if (const CNresult no = ready(); no != SUCCESS) return no;
    if (in_callback) return NOT_PERMITTED;
    try {
        return work();
    } catch (const std::bad_alloc &) {
        return SYSTEM_OUT_OF_MEMORY;
    }
}

template <class Work>
CNresult of_device(Call function, CNdev device, Work &&work) noexcept {
    return call(function, [&]() -> CNresult {
        Context *const context = context_of(device);
        return context ? work(*context->device) : INVALID_DEVICE;
    });
}

// Works on the current context; what broke the device for good is answered from then on.
template <class Work>
CNresult in_context(Call function, Work &&work) noexcept {
    return call(function, [&]() -> CNresult {
        Context *const context = current();
        if (!context) return CONTEXT_INVALID;
        if (const CNresult broken = code(context->device->status()); broken != SUCCESS) return broken;
        return work(*context);
    });
}

// NULL is the default queue of the current context (6.5.11: "the default queue").
template <class Work>
CNresult on_queue(Call function, CNqueue queue, Work &&work) noexcept {
    return in_context(function, [&](Context &) -> CNresult {
        if (!queue) return work(current()->device->default_stream());
        if (!machine().is_stream(queue)) return INVALID_HANDLE;
        // A queue belongs to the context that was current when it was made.
        return queue->device() == current()->device->index() ? work(*queue) : CONTEXT_INVALID;
    });
}

} // namespace hbf::emulated::cn
