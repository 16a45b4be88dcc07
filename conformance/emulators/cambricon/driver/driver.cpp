// SPDX-License-Identifier: Apache-2.0
#include "conformance/emulators/cambricon/driver/driver.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <vector>

#include <pthread.h>
#include <unistd.h>

namespace hbf::emulated::cn {
namespace {

constexpr auto names = std::to_array<const char *>({
#define F(name, parameters) #name,
#include "conformance/emulators/cambricon/driver/functions.inc"
#undef F
#define U(name) #name,
#include "conformance/emulators/cambricon/driver/unsupported.inc"
#undef U
});

// Made at the first cnInit, never given back: threads may call until the process is gone.
struct Driver {
    model::Machine *machine = nullptr;
    std::vector<Context> contexts;
};
std::atomic<Driver *> driver{nullptr};
std::atomic<CNresult> state{NOT_INITIALIZED};
std::atomic<bool> forked{false};
thread_local Context *current_context = nullptr;

// MLU_VISIBLE_DEVICES: ordinals in the order wanted; what follows the first that names none is not seen.
std::vector<int> visible(const std::vector<int> &all) {
    const char *mask = std::getenv("MLU_VISIBLE_DEVICES");
    if (!mask) return all;
    std::vector<int> seen;
    while (*mask) {
        char *end = nullptr;
        const unsigned long number = std::strtoul(mask, &end, 10);
        if (end == mask || number >= all.size()) break;
        seen.push_back(all[number]);
        if (*end != ',') break;
        mask = end + 1;
    }
    return seen;
}

// What the documents say of streams; the unpleasant reading where they say nothing.
constexpr model::Contract contract{
    .pageable = model::Pageable::synchronous, // 6.5.7: an asynchronous copy of pageable memory "becomes synchronous"
    .sticky_errors = true,
    .stop_after_error = false,    // nothing is said to be held back by a task that failed
    .events_carry_errors = false, // 6.5.12.2: cnrtQueryNotifier and cnrtWaitNotifier "still return success"
    .free_waits = false,          // cnrtFree is not said to wait
    .legacy_default_stream = true,
};

CNresult start() {
    model::Machine *const machine = model::machine();
    if (!machine) return NO_DEVICE;
    model::Faults &faults = machine->faults();
    if (faults.fires(model::Fault::init_crashes, -1)) {
        std::signal(SIGSEGV, SIG_DFL); // a sanitizer would make an exit of it
        std::raise(SIGSEGV);
    }
    while (faults.fires(model::Fault::init_hangs, -1)) pause();
    if (faults.fires(model::Fault::init_permission, -1)) return NOT_PERMITTED;
    if (faults.fires(model::Fault::init_fails, -1))
        return static_cast<CNresult>(faults.value(model::Fault::init_fails, NOT_INITIALIZED));
    if (faults.on(model::Fault::stub_library, -1)) return NOT_SUPPORTED;
    auto *const made = new Driver;
    made->machine = machine;
    int ordinal = 0;
    for (const int index : visible(machine->devices_of("cambricon"))) {
        machine->device(index).set_contract(contract);
        made->contexts.push_back({&machine->device(index), ordinal++});
    }
    driver.store(made, std::memory_order_release);
    // cnInit: "After calling cnInit(), it is forbidden to call fork()".
    pthread_atfork(nullptr, nullptr, [] { forked.store(true); });
    return made->contexts.empty() ? NO_DEVICE : SUCCESS;
}

} // namespace

thread_local bool in_callback = false;

Calls &calls() {
    static Calls one("libcndrv.so", names, static_cast<size_t>(Call::supported));
    return one;
}

CNresult initialize() noexcept {
    static std::once_flag once;
    std::call_once(once, [] { state.store(start(), std::memory_order_release); });
    return forked.load() ? ILLEGAL_STATE : state.load(std::memory_order_acquire);
}

CNresult ready() noexcept {
    return forked.load(std::memory_order_relaxed) ? ILLEGAL_STATE : state.load(std::memory_order_acquire);
}

model::Machine &machine() noexcept {
    return *driver.load(std::memory_order_acquire)->machine;
}

int device_count() noexcept {
    const Driver *const one = driver.load(std::memory_order_acquire);
    return one ? static_cast<int>(one->contexts.size()) : 0;
}

// A CNdev is the ordinal with a mark, so that a number that nobody gave out is none.
Context *context_of(CNdev device) noexcept {
    constexpr CNdev mark = 0xcabc0000;
    Driver *const one = driver.load(std::memory_order_acquire);
    const CNdev ordinal = device - mark;
    return one && ordinal < one->contexts.size() ? &one->contexts[ordinal] : nullptr;
}

Context *current() noexcept {
    return current_context;
}

void set_current(Context *context) noexcept {
    current_context = context;
}

} // namespace hbf::emulated::cn
