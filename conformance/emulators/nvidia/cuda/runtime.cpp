// SPDX-License-Identifier: Apache-2.0
#include "conformance/emulators/nvidia/cuda/runtime.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include <pthread.h>
#include <unistd.h>

#include "conformance/emulators/nvidia/cuda/owned.hpp"
#include "conformance/emulators/nvidia/visible.hpp"

namespace hbf::emulated::cuda {
namespace {

constexpr const char *names[] = {
#define F(name, version, symbol, parameters) #symbol,
#include "conformance/emulators/nvidia/cuda/functions.inc"
#undef F
#define U(symbol) #symbol,
#include "conformance/emulators/nvidia/cuda/unsupported.inc"
#undef U
};

// What cuInit found: made once, and read by every call.
struct Runtime {
    model::Machine *machine;
    std::vector<int> devices; // of the machine, by ordinal
};
std::atomic<Runtime *> runtime{nullptr};
// Set in a child of the process that called cuInit: asking for the process's number is a call of the kernel, and every
// function begins with this question.
std::atomic<bool> forked{false};

model::Contract contract(const model::Machine &, model::Faults &faults) {
    model::Contract contract;
    // Programming guide, "API synchronization behavior": pageable memory is staged before the call returns.
    contract.pageable = faults.on(model::Fault::cuda_pageable_late, -1) ? model::Pageable::late : model::Pageable::staged;
    // cuMemFree "may perform implicit synchronization": who relies on it is wrong, so it never does here.
    contract.free_waits = false;
    return contract;
}

// The runtime's initialisation, as far as faults let it come.
CUresult faulty(model::Faults &faults) {
    if (faults.fires(model::Fault::init_crashes, -1)) {
        std::signal(SIGSEGV, SIG_DFL);
        std::raise(SIGSEGV);
    }
    if (faults.fires(model::Fault::init_hangs, -1))
        for (;;) pause();
    if (faults.fires(model::Fault::init_fails, -1))
        return static_cast<CUresult>(faults.value(model::Fault::init_fails, UNKNOWN));
    if (faults.fires(model::Fault::init_permission, -1)) return OPERATING_SYSTEM;
    return SUCCESS;
}

} // namespace

Calls &calls() {
    static Calls calls("libcuda.so.1", names, static_cast<size_t>(Call::supported));
    return calls;
}

// Reference, cuInit: flags must be 0; it "must be called before any other function".
CUresult initialize(unsigned int flags) noexcept {
    static std::mutex mutex;
    if (flags != 0) return INVALID_VALUE;
    std::lock_guard lock(mutex);
    if (runtime.load(std::memory_order_acquire)) // reference: a child process cannot go on
        return forked.load(std::memory_order_relaxed) ? NOT_INITIALIZED : SUCCESS;
    model::Machine *const machine = model::machine();
    if (!machine) return NO_DEVICE;
    if (const CUresult no = always_answered()) return no;
    if (const CUresult no = faulty(machine->faults())) return no;
    try {
        auto made = std::make_unique<Runtime>(Runtime{machine, visible_devices(*machine)});
        if (made->devices.empty()) return NO_DEVICE;
        for (const int device : machine->devices_of("nvidia"))
            machine->device(device).set_contract(contract(*machine, machine->faults()));
        Store<Context>::of_all().prepare();
        Store<Stream>::of_all().prepare();
        Store<Event>::of_all().prepare();
        Store<Module>::of_all().prepare();
        Store<Function>::of_all().prepare();
        prepare_books();
        if (pthread_atfork(nullptr, nullptr, [] { forked.store(true, std::memory_order_relaxed); }) != 0)
            return OUT_OF_MEMORY;
        runtime.store(made.release(), std::memory_order_release);
    } catch (const std::bad_alloc &) {
        return OUT_OF_MEMORY;
    }
    return SUCCESS;
}

CUresult ready() noexcept {
    if (!runtime.load(std::memory_order_acquire)) {
        const CUresult no = always_answered();
        return no ? no : NOT_INITIALIZED;
    }
    if (forked.load(std::memory_order_relaxed)) return NOT_INITIALIZED;
    return model::in_host_function() ? NOT_PERMITTED : SUCCESS;
}

CUresult always_answered() noexcept {
    model::Machine *const machine = model::machine();
    return machine && machine->faults().on(model::Fault::stub_library, -1) ? STUB_LIBRARY : SUCCESS;
}

model::Machine &machine() noexcept {
    return *runtime.load(std::memory_order_acquire)->machine;
}

int driver_version() {
    model::Machine *const machine = model::machine();
    if (!machine) return 13000;
    model::Faults &faults = machine->faults();
    if (faults.on(model::Fault::garbage_version, -1)) return -1;
    if (faults.on(model::Fault::old_driver, -1)) return static_cast<int>(faults.value(model::Fault::old_driver, 10010));
    return static_cast<int>(machine->profile().vendor_number("nvidia", "driver_version", 13000));
}

int device_count() noexcept {
    return static_cast<int>(runtime.load(std::memory_order_acquire)->devices.size());
}

model::Device *device_of(CUdevice ordinal) noexcept {
    const Runtime &made = *runtime.load(std::memory_order_acquire);
    if (ordinal < 0 || ordinal >= device_count()) return nullptr;
    return &made.machine->device(made.devices[static_cast<size_t>(ordinal)]);
}

CUdevice ordinal_of(int model_device) noexcept {
    const std::vector<int> &devices = runtime.load(std::memory_order_acquire)->devices;
    const auto at = std::find(devices.begin(), devices.end(), model_device);
    return at == devices.end() ? -1 : static_cast<CUdevice>(at - devices.begin());
}

} // namespace hbf::emulated::cuda
