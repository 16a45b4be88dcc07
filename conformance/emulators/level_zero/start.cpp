// SPDX-License-Identifier: Apache-2.0
// zeInit, and what is there since.
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string_view>

#include <unistd.h>

#include "conformance/emulators/level_zero/driver.hpp"

namespace hbf::emulated::l0 {
namespace {

using model::Fault;

struct State {
    std::mutex mutex;
    std::atomic<bool> started{false};
    ze::DriverObject driver;
    std::vector<ze::DeviceObject *> devices;
};
// Never destroyed: the loader and its user may call until the process is gone.
State &state() noexcept {
    static State *const one = new State;
    return *one;
}

// "ZE_AFFINITY_MASK": a list of numbers of devices (specification, Environment Variables). Tiles of a device are none here.
bool admitted(uint32_t number) {
    const char *const mask = std::getenv("ZE_AFFINITY_MASK");
    if (!mask || !*mask) return true;
    for (std::string_view rest = mask; !rest.empty();) {
        const std::string_view word = rest.substr(0, rest.find(','));
        if (word.substr(0, word.find('.')) == std::to_string(number)) return true;
        rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    }
    return false;
}

// What the specification promises of streams and memory: it promises little.
model::Contract contract() {
    model::Contract out;
    out.pageable =
        model::Pageable::late;         // zeCommandListAppendMemoryCopy: memory is "free to be modified up until execution"
    out.free_waits = false;            // zeMemFree: "the application must ensure" that nothing refers to it
    out.legacy_default_stream = false; // there is none
    return out;
}

Result start() {
    State &all = state();
    const std::lock_guard lock(all.mutex);
    if (all.started.load(std::memory_order_relaxed)) return ze::success;
    model::Machine *const machine = model::machine();
    if (!machine) return ze::uninitialized;
    model::Faults &faults = machine->faults();
    if (faults.fires(Fault::init_crashes, -1)) *static_cast<volatile int *>(nullptr) = 0;
    if (faults.fires(Fault::init_hangs, -1))
        for (;;) ::pause();
    if (faults.fires(Fault::init_permission, -1)) return ze::insufficient_permissions;
    if (faults.fires(Fault::init_fails, -1)) return static_cast<Result>(faults.value(Fault::init_fails, ze::uninitialized));
    const std::vector<int> mine = machine->devices_of("level_zero");
    for (uint32_t i = 0; i < mine.size(); ++i) {
        if (!admitted(i)) continue;
        machine->device(mine[i]).set_contract(contract());
        all.devices.push_back(new ze::DeviceObject{mine[i], i});
    }
    if (all.devices.empty()) return ze::uninitialized; // a driver without a device has nothing to start
    all.started.store(true, std::memory_order_release);
    return ze::success;
}

} // namespace

model::Machine &machine() noexcept {
    return *model::machine();
}
const std::vector<ze::DeviceObject *> &devices() noexcept {
    return state().devices;
}
ze::DriverObject &driver() noexcept {
    return state().driver;
}
bool started() noexcept {
    return state().started.load(std::memory_order_acquire);
}

Result result_of(model::Outcome outcome) noexcept {
    using model::Outcome;
    switch (outcome) {
    case Outcome::ok:
        return ze::success;
    case Outcome::pending:
        return ze::not_ready;
    case Outcome::no_memory:
        return ze::out_of_device_memory;
    case Outcome::invalid:
    case Outcome::unknown_address:
        return ze::invalid_argument;
    case Outcome::unsupported:
        return ze::unsupported_feature;
    case Outcome::busy:
        return ze::object_in_use;
    default:
        return ze::device_lost;
    }
}

} // namespace hbf::emulated::l0

namespace em = hbf::emulated::l0;

// zeInit: "must be called before any other API function", may be called several times (the loader does so, too).
HBF_ZE zeInit(uint32_t flags) {
    constexpr uint32_t known = 3, vpu_only = 2; // ze_init_flag_t
    if (flags & ~known) return hbf::level_zero::ze::invalid_enumeration;
    if (flags == vpu_only) return hbf::level_zero::ze::uninitialized; // there is none
    return em::start();
}
