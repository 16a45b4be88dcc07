// SPDX-License-Identifier: Apache-2.0
// The runtime of this process: what every function begins and ends with, the devices that it shows, and what each thread
// has: its device and its last error.
#pragma once

#include <new>

#include "conformance/emulators/amd/hip/functions.hpp"
#include "conformance/emulators/calls/calls.hpp"
#include "conformance/sim/model/machine.hpp"

namespace hbf::emulated::hip {

// What of the release differs. One of them is linked into each library: release.cpp.
struct Release {
    int major, minor, patch;
    const char *soname;
    int number() const { return major * 10'000'000 + minor * 100'000 + patch; }
};
const Release &release() noexcept;

// An index of calls(): the functions of functions.inc, those of hipRTC, then those that are not supported.
enum class Call : uint32_t {
#define F(release, name, parameters) name,
#define R(release, name, parameters) name,
#define S(release, name, result, parameters) name,
#define U(release, name) name,
#include "conformance/emulators/amd/hip/functions.inc"
#include "conformance/emulators/amd/hip/rtc_functions.inc"
    supported,
    last_supported = supported - 1,
#include "conformance/emulators/amd/hip/unsupported.inc"
#undef F
#undef R
#undef S
#undef U
};
Calls &calls() noexcept;

// hipSuccess, or why nothing can be done. HIP starts by itself at the first call that needs a device (HIP guide,
// "Initialization").
hipError_t start() noexcept;
hipError_t driver_says() noexcept;  // not hipSuccess: the library is a stub
model::Machine &machine() noexcept; // once started

int device_count() noexcept;
model::Device *device_of(int ordinal) noexcept;  // nullptr: there is none
int ordinal_of(int model_device) noexcept;       // -1: not shown
int current_ordinal() noexcept;                  // of this thread; header, hipSetDevice: "thread local"
void set_current(int ordinal) noexcept;          // a valid one
model::Device &current() noexcept;               // once started
bool runtime_fault(model::Fault fault) noexcept; // a state, on any device
uint64_t fault_value(model::Fault fault, uint64_t otherwise) noexcept;

hipError_t code(model::Outcome outcome) noexcept;    // of work on the device
hipError_t refusal(model::Outcome outcome) noexcept; // of a call that was refused before anything ran

hipError_t &last_error() noexcept; // of this thread
hipError_t noted(hipError_t result) noexcept;

// A function that needs no device.
template <class Work>
hipError_t plainly(Call function, Work &&work) noexcept {
    calls().count(static_cast<size_t>(function));
    if (const hipError_t stub = driver_says()) return stub;
    return noted(work());
}

template <class Work>
hipError_t started(Call function, Work &&work) noexcept {
    calls().count(static_cast<size_t>(function));
    if (const hipError_t no = start()) return noted(no);
    try {
        return noted(work());
    } catch (const std::bad_alloc &) {
        return noted(hipErrorOutOfMemory);
    }
}

// One that works on this thread's device. What broke the device is told by everything that comes after (HIP guide, "Error
// handling": "sticky" errors).
template <class Work>
hipError_t on_device(Call function, Work &&work) noexcept {
    return started(function, [&]() -> hipError_t {
        model::Device &device = current();
        if (const hipError_t broken = code(device.status())) return broken;
        return work(device);
    });
}

// One that names a device.
template <class Work>
hipError_t of_device(Call function, int ordinal, Work &&work) noexcept {
    return started(function, [&]() -> hipError_t {
        model::Device *const device = device_of(ordinal);
        return device ? work(*device) : hipErrorInvalidDevice;
    });
}

template <class T>
hipError_t give(T *out, T value) noexcept {
    if (!out) return hipErrorInvalidValue;
    *out = value;
    return hipSuccess;
}

inline uint64_t address_of(const void *pointer) noexcept {
    return reinterpret_cast<uintptr_t>(pointer);
}
inline void *pointer_to(uint64_t address) noexcept {
    return reinterpret_cast<void *>(
        static_cast<uintptr_t>(address)); // NOLINT(performance-no-int-to-ptr): that is what it is
}

} // namespace hbf::emulated::hip
