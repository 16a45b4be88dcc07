// SPDX-License-Identifier: Apache-2.0
// Reference, "Device Queries": which devices there are, and what they are.
#include <cstdio>
#include <cstdlib>

#include "conformance/emulators/nvidia/nvml/library.hpp"
#include "conformance/emulators/nvidia/visible.hpp"

namespace hbf::emulated::nvml {

bool parse(const char *words, Pci &pci) noexcept {
    char rest = 0;
    if (std::sscanf(words, "%x:%x:%x.%x%c", &pci.domain, &pci.bus, &pci.device, &pci.function, &rest) == 4) return true;
    pci = {};
    if (std::sscanf(words, "%x:%x:%x%c", &pci.domain, &pci.bus, &pci.device, &rest) == 3) return true;
    pci = {};
    return std::sscanf(words, "%x:%x.%x%c", &pci.bus, &pci.device, &pci.function, &rest) == 3;
}

bool pci_info(const model::Device &device, nvmlPciInfo_t &out) noexcept {
    Pci pci;
    if (!parse(device.profile().pci.c_str(), pci)) return false;
    out = {};
    out.domain = pci.domain;
    out.bus = pci.bus;
    out.device = pci.device;
    out.pci_device_id = (uint32_t{device.profile().pci_device} << 16) | device.profile().pci_vendor;
    std::snprintf(out.bus_id, sizeof out.bus_id, "%08X:%02X:%02X.0", pci.domain, pci.bus & 0xffu, pci.device & 0xffu);
    std::snprintf(out.bus_id_legacy, sizeof out.bus_id_legacy, "%04X:%02X:%02X.0", pci.domain & 0xffffu, pci.bus & 0xffu,
                  pci.device & 0xffu);
    return true;
}

namespace {

// The device that `is` holds of; "a GPU that has fallen off the bus" is found still.
template <class Is>
nvmlReturn_t find(Call function, nvmlDevice_t *out, Is &&is) {
    return call(function, [&]() -> nvmlReturn_t {
        if (!out) return INVALID_ARGUMENT;
        for (unsigned int i = 0; i < count(); ++i)
            if (is(*by_index(i))) return give(out, by_index(i));
        return NOT_FOUND;
    });
}

model::Usage usage(const model::Device &device) {
    return machine().memory().usage(device.index());
}

} // namespace

extern "C" {

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *out) {
    return call(Call::nvmlDeviceGetCount_v2, [&] { return give(out, count()); });
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *out) {
    return call(Call::nvmlDeviceGetHandleByIndex_v2,
                [&]() -> nvmlReturn_t { return by_index(index) ? give(out, by_index(index)) : INVALID_ARGUMENT; });
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *out) {
    if (!uuid) return call(Call::nvmlDeviceGetHandleByUUID, [] { return INVALID_ARGUMENT; });
    return find(Call::nvmlDeviceGetHandleByUUID, out,
                [&](const Device &one) { return uuid_text(one.device->profile()) == uuid; });
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *words, nvmlDevice_t *out) {
    Pci wanted;
    if (!words || !parse(words, wanted))
        return call(Call::nvmlDeviceGetHandleByPciBusId_v2, [] { return INVALID_ARGUMENT; });
    return find(Call::nvmlDeviceGetHandleByPciBusId_v2, out, [&](const Device &one) {
        Pci has;
        return parse(one.device->profile().pci.c_str(), has) && has.domain == wanted.domain && has.bus == wanted.bus &&
               has.device == wanted.device;
    });
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t handle, unsigned int *out) {
    return of_device(Call::nvmlDeviceGetIndex, handle, [&](model::Device &) { return give(out, handle->index); });
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t handle, char *out, unsigned int room) {
    return of_device(Call::nvmlDeviceGetName, handle, [&](model::Device &device) { return text(device.name(), out, room); });
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t handle, char *out, unsigned int room) {
    return of_device(Call::nvmlDeviceGetUUID, handle,
                     [&](model::Device &device) { return text(uuid_text(device.profile()), out, room); });
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t handle, nvmlPciInfo_t *out) {
    return of_device(Call::nvmlDeviceGetPciInfo_v3, handle, [&](model::Device &device) -> nvmlReturn_t {
        if (!out) return INVALID_ARGUMENT;
        return pci_info(device, *out) ? SUCCESS : UNKNOWN;
    });
}

// "Under Linux ... used: sum of reserved and allocated device memory".
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t handle, nvmlMemory_t *out) {
    return of_device(Call::nvmlDeviceGetMemoryInfo, handle, [&](model::Device &device) {
        const model::Usage now = usage(device);
        return give(out, nvmlMemory_t{device.profile().memory, now.free, device.profile().memory - now.free});
    });
}

// "Users must set version": ARGUMENT_VERSION_MISMATCH else.
nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t handle, nvmlMemory_v2_t *out) {
    return of_device(Call::nvmlDeviceGetMemoryInfo_v2, handle, [&](model::Device &device) -> nvmlReturn_t {
        if (!out) return INVALID_ARGUMENT;
        if (out->version != version_of<nvmlMemory_v2_t>(2)) return ARGUMENT_VERSION_MISMATCH;
        const model::Usage now = usage(device);
        const uint64_t total = device.profile().memory, reserved = device.profile().reserved;
        *out = {out->version, total, reserved, now.free, total - reserved - now.free};
        return SUCCESS;
    });
}

// All of the memory on devices that a profile does not say otherwise of (resizable BAR).
nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t handle, nvmlBAR1Memory_t *out) {
    return of_device(Call::nvmlDeviceGetBAR1MemoryInfo, handle, [&](model::Device &device) {
        uint64_t total = 1;
        const std::string said = device.text("bar1_bytes");
        if (!said.empty()) total = std::strtoull(said.c_str(), nullptr, 10);
        while (said.empty() && total < device.profile().memory) total *= 2;
        return give(out, nvmlBAR1Memory_t{total, total, 0});
    });
}

nvmlReturn_t nvmlDeviceGetNumaNodeId(nvmlDevice_t handle, unsigned int *out) {
    return of_device(Call::nvmlDeviceGetNumaNodeId, handle, [&](model::Device &device) -> nvmlReturn_t {
        return device.profile().memory_node < 0 ? NOT_SUPPORTED : give(out, device.profile().memory_node);
    });
}

// "Only applicable to devices supporting MIG": from sm_80 on. A profile says mig = "1" in [device.texts], or "empty":
// it has no instance.
nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t handle, unsigned int *now, unsigned int *pending) {
    return of_device(Call::nvmlDeviceGetMigMode, handle, [&](model::Device &device) -> nvmlReturn_t {
        if (!now || !pending) return INVALID_ARGUMENT;
        *now = *pending = device.text("mig").empty() ? 0 : 1;
        return SUCCESS;
    });
}

nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t handle, int *out) {
    return of_device(Call::nvmlDeviceGetPersistenceMode, handle, [&](model::Device &) { return give(out, 1); });
}

} // extern "C"
} // namespace hbf::emulated::nvml
