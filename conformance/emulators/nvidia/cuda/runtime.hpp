// SPDX-License-Identifier: Apache-2.0
// The driver of this process: what every function begins with, the devices that it shows, and the current context of each
// thread.
#pragma once

#include <csignal>
#include <memory>
#include <new>
#include <vector>

#include "conformance/emulators/calls/calls.hpp"
#include "conformance/emulators/nvidia/cuda/codes.hpp"
#include "conformance/emulators/nvidia/cuda/functions.hpp"
#include "conformance/emulators/nvidia/cuda/objects.hpp"
#include "conformance/sim/model/machine.hpp"

namespace hbf::emulated::cuda {

// An index of calls(): the functions of functions.inc, then those of unsupported.inc.
enum class Call : uint32_t {
#define F(name, version, symbol, parameters) symbol,
#include "conformance/emulators/nvidia/cuda/functions.inc"
#undef F
    supported,
    first_unsupported = supported,
};
Calls &calls();

// SUCCESS, or why nothing can be done: no cuInit yet, in a child of the process that called it, a stub.
CUresult ready() noexcept;
CUresult initialize(unsigned int flags) noexcept;
CUresult always_answered() noexcept; // what even a stub says to functions that need no cuInit
model::Machine &machine() noexcept;  // once ready

int driver_version(); // 12080: as cuDriverGetVersion says
int device_count() noexcept;
model::Device *device_of(CUdevice ordinal) noexcept; // nullptr: there is none
CUdevice ordinal_of(int model_device) noexcept;

// A function of the driver API: `work` runs if it may be called here. Without a machine or in a callback it is refused
// (reference: "Callbacks must not make any CUDA API calls ... CUDA_ERROR_NOT_PERMITTED").
template <class Work>
CUresult call(Call function, Work &&work) noexcept {
    calls().count(static_cast<size_t>(function));
    if (const CUresult no = ready()) return no;
    try {
        return work();
    } catch (const std::bad_alloc &) {
        return OUT_OF_MEMORY;
    }
}

// One that works on the current context; reference, everywhere: "this function may also return error codes from previous,
// asynchronous launches", and what an error left "in an inconsistent state" returns the same error for ever.
template <class Work>
CUresult in_context(Call function, Work &&work) noexcept {
    return call(function, [&]() -> CUresult {
        Context *const context = current();
        if (!context) return INVALID_CONTEXT;
        if (!context->alive()) return CONTEXT_IS_DESTROYED;
        if (const CUresult broken = code(context->device->status())) return broken;
        return work(*context);
    });
}

// One that names a device.
template <class Work>
CUresult of_device(Call function, CUdevice ordinal, Work &&work) noexcept {
    return call(function, [&]() -> CUresult {
        model::Device *const device = device_of(ordinal);
        return device ? work(*device) : INVALID_DEVICE;
    });
}

template <class T>
CUresult give(T *out, T value) noexcept {
    if (!out) return INVALID_VALUE;
    *out = value;
    return SUCCESS;
}

} // namespace hbf::emulated::cuda
