// SPDX-License-Identifier: Apache-2.0
#include "conformance/emulators/amd/smi/smi.hpp"

#include <mutex>
#include <vector>

namespace hbf::emulated::smi {
namespace {

struct Started {
    std::mutex mutex;
    int32_t users = 0;
    std::vector<int> devices;
    std::atomic<model::Machine *> machine{nullptr};
};
Started &state() noexcept {
    static Started *const one = new Started; // never destroyed: a thread may call until the process is gone
    return *one;
}

const char *const names[] = {
#define F(release, name, parameters) #name,
#define U(release, name) #name,
#include "conformance/emulators/amd/smi/functions.inc"
#include "conformance/emulators/amd/smi/unsupported.inc"
#undef F
#undef U
};

} // namespace

Calls &calls() noexcept {
    static Calls one("librocm_smi64.so", names, static_cast<size_t>(Call::supported));
    return one;
}

rsmi_status_t start() noexcept {
    Started &all = state();
    const std::lock_guard lock(all.mutex);
    model::Machine *const machine = model::machine();
    if (!machine) return INIT_ERROR;
    if (machine->faults().on(model::Fault::init_permission, -1)) return PERMISSION;
    ++all.users;
    all.devices = machine->devices_of("amd");
    all.machine.store(machine, std::memory_order_release);
    return SUCCESS;
}

rsmi_status_t stop() noexcept {
    Started &all = state();
    const std::lock_guard lock(all.mutex);
    if (all.users == 0) return INIT_ERROR;
    if (--all.users == 0) all.machine.store(nullptr, std::memory_order_release);
    return SUCCESS;
}

model::Machine *machine() noexcept {
    return state().machine.load(std::memory_order_acquire);
}

uint32_t device_count() noexcept {
    return static_cast<uint32_t>(state().devices.size());
}

model::Device *device_of(uint32_t index) noexcept {
    return index < device_count() ? &machine()->device(state().devices[index]) : nullptr;
}

extern "C" {

// Header, rsmi_init: "must be called before any other"; "a reference count is kept".
rsmi_status_t rsmi_init(uint64_t) {
    calls().count(static_cast<size_t>(Call::rsmi_init));
    return start();
}
// Header, rsmi_shut_down.
rsmi_status_t rsmi_shut_down() {
    calls().count(static_cast<size_t>(Call::rsmi_shut_down));
    return stop();
}

// Header, rsmi_status_string: "a string description of a status".
rsmi_status_t rsmi_status_string(rsmi_status_t status, const char **out) {
    calls().count(static_cast<size_t>(Call::rsmi_status_string));
    if (!out) return INVALID_ARGS;
    switch (status) {
    case SUCCESS:
        return give(out, "the call succeeded");
    case INVALID_ARGS:
        return give(out, "an argument is invalid");
    case NOT_SUPPORTED:
        return give(out, "not available on this system or device");
    case FILE_ERROR:
        return give(out, "a file of the driver cannot be read");
    case PERMISSION:
        return give(out, "permission denied");
    case INIT_ERROR:
        return give(out, "SMI was not initialised");
    case NOT_FOUND:
        return give(out, "not found");
    case INSUFFICIENT_SIZE:
        return give(out, "the buffer is too small");
    default:
        return give(out, "an unknown status");
    }
}

// Header, rsmi_version_get: of this library.
rsmi_status_t rsmi_version_get(rsmi_version_t *out) {
    calls().count(static_cast<size_t>(Call::rsmi_version_get));
    return out ? give(out, rsmi_version_t{5, 0, 0, "emulated"}) : rsmi_status_t{INVALID_ARGS};
}

// Header, rsmi_num_monitor_devices.
rsmi_status_t rsmi_num_monitor_devices(uint32_t *count) {
    return started(Call::rsmi_num_monitor_devices,
                   [&] { return count ? give(count, device_count()) : rsmi_status_t{INVALID_ARGS}; });
}

#define U(release, name)                                                                                                    \
    HBF_EXPORTED rsmi_status_t name();                                                                                      \
    rsmi_status_t name() {                                                                                                  \
        calls().count(static_cast<size_t>(Call::name));                                                                     \
        return NOT_SUPPORTED;                                                                                               \
    }
#include "conformance/emulators/amd/smi/unsupported.inc"
#undef U

} // extern "C"
} // namespace hbf::emulated::smi
