// SPDX-License-Identifier: Apache-2.0
// What every function begins with. ROCm SMI numbers the machine's devices itself: masks of the HIP runtime do not count
// here.
#pragma once

#include "conformance/emulators/amd/smi/api.hpp"
#include "conformance/emulators/calls/calls.hpp"
#include "conformance/sim/model/machine.hpp"

namespace hbf::emulated::smi {

extern "C" {
#define F(release, name, parameters) HBF_EXPORTED rsmi_status_t name parameters;
#include "conformance/emulators/amd/smi/functions.inc"
#undef F
}

enum class Call : uint32_t {
#define F(release, name, parameters) name,
#define U(release, name) name,
#include "conformance/emulators/amd/smi/functions.inc"
    supported,
    last_supported = supported - 1,
#include "conformance/emulators/amd/smi/unsupported.inc"
#undef F
#undef U
};
Calls &calls() noexcept;

rsmi_status_t start() noexcept; // counts: every rsmi_init wants its rsmi_shut_down
rsmi_status_t stop() noexcept;
model::Machine *machine() noexcept; // nullptr before rsmi_init
uint32_t device_count() noexcept;
model::Device *device_of(uint32_t index) noexcept;

template <class Work>
rsmi_status_t started(Call function, Work &&work) noexcept {
    calls().count(static_cast<size_t>(function));
    return machine() ? work() : rsmi_status_t{INIT_ERROR};
}
// Header, everywhere: RSMI_STATUS_INVALID_ARGS for a device that is none, and for a null pointer.
template <class Work>
rsmi_status_t of_device(Call function, uint32_t index, const void *out, Work &&work) noexcept {
    return started(function, [&]() -> rsmi_status_t {
        model::Device *const device = device_of(index);
        if (!device || !out) return INVALID_ARGS;
        return device->lost() ? rsmi_status_t{FILE_ERROR} : work(*device); // its files in sysfs are gone
    });
}

template <class T>
rsmi_status_t give(T *out, T value) noexcept {
    *out = value;
    return SUCCESS;
}

} // namespace hbf::emulated::smi
