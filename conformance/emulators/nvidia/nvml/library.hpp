// SPDX-License-Identifier: Apache-2.0
// What every function of the library begins with.
#pragma once

#include "conformance/emulators/calls/calls.hpp"
#include "conformance/emulators/nvidia/nvml/api.hpp"
#include "conformance/sim/model/machine.hpp"

#define HBF_EXPORTED __attribute__((visibility("default")))

namespace hbf::emulated::nvml {

extern "C" {
#define F(symbol, parameters) HBF_EXPORTED nvmlReturn_t symbol parameters;
#include "conformance/emulators/nvidia/nvml/functions.inc"
#undef F
HBF_EXPORTED const char *nvmlErrorString(nvmlReturn_t result);
}

enum class Call : uint32_t {
#define F(symbol, parameters) symbol,
#include "conformance/emulators/nvidia/nvml/functions.inc"
#undef F
    supported,
};
Calls &calls();
bool initialized() noexcept;

// A device by the place that it has here. "The order in which NVML enumerates devices has no guarantees of consistency", and
// is another than CUDA's: the last device is the first.
struct Device {
    model::Device *device;
    unsigned int index;
};
unsigned int count() noexcept;
Device *by_index(unsigned int index) noexcept; // nullptr: none
bool is_device(const Device *handle) noexcept;
model::Machine &machine() noexcept; // once initialized

template <class Work>
nvmlReturn_t call(Call function, Work &&work) noexcept {
    calls().count(static_cast<size_t>(function));
    if (!initialized()) return UNINITIALIZED;
    return work();
}

// Reference, each function of a device: INVALID_ARGUMENT "if device is invalid", GPU_IS_LOST "if the target GPU has fallen
// off the bus or is otherwise inaccessible".
template <class Work>
nvmlReturn_t of_device(Call function, nvmlDevice_t handle, Work &&work) noexcept {
    return call(function, [&]() -> nvmlReturn_t {
        if (!is_device(handle)) return INVALID_ARGUMENT;
        return handle->device->lost() ? GPU_IS_LOST : work(*handle->device);
    });
}

template <class T, class Value>
nvmlReturn_t give(T *out, Value value) noexcept {
    if (!out) return INVALID_ARGUMENT;
    *out = static_cast<T>(value);
    return SUCCESS;
}
nvmlReturn_t text(const std::string &value, char *out, unsigned int room); // INSUFFICIENT_SIZE: it does not fit with its end

struct Pci {
    unsigned domain = 0, bus = 0, device = 0, function = 0;
};
bool parse(const char *words, Pci &pci) noexcept; // "0000:1b:00.0", also with a domain of 8 digits, or without
bool pci_info(const model::Device &device, nvmlPciInfo_t &out) noexcept;

} // namespace hbf::emulated::nvml
