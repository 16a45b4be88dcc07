// SPDX-License-Identifier: Apache-2.0
#include "conformance/emulators/amd/hip/runtime.hpp"

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

#include <pthread.h>
#include <unistd.h>

#include "conformance/emulators/amd/hip/visible.hpp"

namespace hbf::emulated::hip {
namespace {

struct Shown {
    model::Machine *machine = nullptr;
    std::vector<int> devices; // HIP's ordinal -> the machine's index
    hipError_t why = hipErrorNotInitialized;
};
Shown &shown() noexcept {
    alignas(Shown) static std::byte room[sizeof(Shown)]; // never destroyed: a thread may call until the process is gone
    static Shown *const one = ::new (static_cast<void *>(room)) Shown;
    return *one;
}
std::atomic<bool> is_started{false}, in_child{false}; // a child of fork() has no devices: threads did not follow it
std::mutex starting;

// What HIP's documents make of the settings of streams: header, hipMemcpyAsync: "If host or dest are not pinned, the memory
// copy will be performed synchronously"; hipFree: "performs an implicit hipDeviceSynchronize() call"; HIP guide, "Default
// stream": blocking streams and the null stream wait for each other.
model::Contract contract_of(model::Machine &machine, int device) {
    model::Contract contract;
    contract.pageable =
        machine.faults().on(model::Fault::hip_pageable_late, device) ? model::Pageable::late : model::Pageable::synchronous;
    return contract;
}

void misbehave(model::Machine &machine) {
    model::Faults &faults = machine.faults();
    if (faults.fires(model::Fault::init_crashes, -1)) {
        std::signal(SIGSEGV, SIG_DFL);
        std::raise(SIGSEGV);
    }
    if (faults.fires(model::Fault::init_hangs, -1))
        for (;;) ::pause();
}

// Header, hipInit: "returns hipErrorNoDevice"; without the right to open /dev/kfd HSA finds no agents, which is the same.
hipError_t find_devices(Shown &to) {
    to.machine = model::machine();
    if (!to.machine) return hipErrorNoDevice;
    misbehave(*to.machine);
    model::Faults &faults = to.machine->faults();
    if (faults.fires(model::Fault::init_fails, -1))
        return static_cast<hipError_t>(faults.value(model::Fault::init_fails, hipErrorNotInitialized));
    if (faults.fires(model::Fault::init_permission, -1)) return hipErrorNoDevice;
    to.devices = visible_devices(to.machine->devices_of("amd"));
    for (const int device : to.devices) to.machine->device(device).set_contract(contract_of(*to.machine, device));
    return to.devices.empty() ? hipErrorNoDevice : hipSuccess;
}

const char *const names[] = {
#define F(release, name, parameters) #name,
#define R(release, name, parameters) #name,
#define S(release, name, result, parameters) #name,
#define U(release, name) #name,
#include "conformance/emulators/amd/hip/functions.inc"
#include "conformance/emulators/amd/hip/rtc_functions.inc"
#include "conformance/emulators/amd/hip/unsupported.inc"
#undef F
#undef R
#undef S
#undef U
};

thread_local int device_of_thread = 0;
thread_local hipError_t error_of_thread = hipSuccess;

} // namespace

Calls &calls() noexcept {
    static Calls one(release().soname, names, static_cast<size_t>(Call::supported));
    return one;
}

hipError_t driver_says() noexcept {
    return runtime_fault(model::Fault::stub_library) ? hipErrorNotSupported : hipSuccess;
}

hipError_t start() noexcept {
    Shown &all = shown();
    if (is_started.load(std::memory_order_acquire)) {
        if (!in_child.load(std::memory_order_relaxed)) return all.why;
        return hipErrorNotInitialized; // HIP FAQ: a runtime that was started does not work in a child of fork()
    }
    if (const hipError_t stub = driver_says()) return stub;
    const std::lock_guard lock(starting);
    if (is_started.load(std::memory_order_acquire)) return all.why;
    all.why = find_devices(all);
    ::pthread_atfork(nullptr, nullptr, [] { in_child.store(true, std::memory_order_relaxed); });
    is_started.store(true, std::memory_order_release);
    return all.why;
}

model::Machine &machine() noexcept {
    return *shown().machine;
}

int device_count() noexcept {
    return static_cast<int>(shown().devices.size());
}

model::Device *device_of(int ordinal) noexcept {
    if (ordinal < 0 || ordinal >= device_count()) return nullptr;
    return &machine().device(shown().devices[static_cast<size_t>(ordinal)]);
}

int ordinal_of(int model_device) noexcept {
    for (int i = 0; i < device_count(); ++i)
        if (shown().devices[static_cast<size_t>(i)] == model_device) return i;
    return -1;
}

int current_ordinal() noexcept {
    return device_of_thread;
}
void set_current(int ordinal) noexcept {
    device_of_thread = ordinal;
}
model::Device &current() noexcept {
    return *device_of(device_of_thread);
}

bool runtime_fault(model::Fault fault) noexcept {
    model::Machine *const here = model::machine();
    return here && here->faults().on(fault, -1);
}

uint64_t fault_value(model::Fault fault, uint64_t otherwise) noexcept {
    model::Machine *const here = model::machine();
    return here ? here->faults().value(fault, otherwise) : otherwise;
}

hipError_t &last_error() noexcept {
    return error_of_thread;
}

// Header, hipGetLastError: the last error "from any of the runtime API calls using hip on the host thread"; that something
// is not ready is no error.
hipError_t noted(hipError_t result) noexcept {
    if (result != hipSuccess && result != hipErrorNotReady) error_of_thread = result;
    return result;
}

} // namespace hbf::emulated::hip
