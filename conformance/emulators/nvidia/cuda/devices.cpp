// SPDX-License-Identifier: Apache-2.0
// Reference, "Device Management".
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "conformance/emulators/nvidia/cuda/attributes.hpp"
#include "conformance/emulators/nvidia/cuda/runtime.hpp"
#include "conformance/emulators/nvidia/visible.hpp"

namespace hbf::emulated::cuda {
namespace {

// "An ASCII string", cut to what the caller has room for and always ended.
CUresult text(const std::string &value, char *out, int room) {
    if (!out || room <= 0) return INVALID_VALUE;
    const size_t size = std::min(value.size(), static_cast<size_t>(room) - 1);
    std::memcpy(out, value.data(), size);
    out[size] = '\0';
    return SUCCESS;
}

struct Pci {
    unsigned domain = 0, bus = 0, device = 0, function = 0;
};
bool parse(const char *words, Pci &pci) {
    char rest = 0;
    if (std::sscanf(words, "%x:%x:%x.%x%c", &pci.domain, &pci.bus, &pci.device, &pci.function, &rest) == 4) return true;
    pci = {};
    if (std::sscanf(words, "%x:%x:%x%c", &pci.domain, &pci.bus, &pci.device, &rest) == 3) return true;
    pci = {};
    return std::sscanf(words, "%x:%x.%x%c", &pci.bus, &pci.device, &pci.function, &rest) == 3;
}

CUresult uuid(Call function, CUuuid *out, CUdevice ordinal) {
    return of_device(function, ordinal, [&](model::Device &device) -> CUresult {
        if (!out) return INVALID_VALUE;
        uuid_bytes(device.profile(), out->bytes);
        return SUCCESS;
    });
}

} // namespace

extern "C" {

CUresult cuDeviceGetCount(int *out) {
    return call(Call::cuDeviceGetCount, [&] { return give(out, device_count()); });
}

CUresult cuDeviceGet(CUdevice *out, int ordinal) {
    return of_device(Call::cuDeviceGet, ordinal, [&](model::Device &) { return give(out, ordinal); });
}

CUresult cuDeviceGetName(char *out, int room, CUdevice ordinal) {
    return of_device(Call::cuDeviceGetName, ordinal, [&](model::Device &device) { return text(device.name(), out, room); });
}

CUresult cuDeviceGetUuid(CUuuid *out, CUdevice ordinal) {
    return uuid(Call::cuDeviceGetUuid, out, ordinal);
}

CUresult cuDeviceGetUuid_v2(CUuuid *out, CUdevice ordinal) { // differs on parts of a device only
    return uuid(Call::cuDeviceGetUuid_v2, out, ordinal);
}

CUresult cuDeviceTotalMem_v2(size_t *out, CUdevice ordinal) {
    return of_device(Call::cuDeviceTotalMem_v2, ordinal, [&](model::Device &device) {
        return give(out, static_cast<size_t>(machine().memory().usage(device.index()).total));
    });
}

CUresult cuDeviceGetAttribute(int *out, int attribute, CUdevice ordinal) {
    return of_device(Call::cuDeviceGetAttribute, ordinal, [&](model::Device &device) -> CUresult {
        const std::optional<int> value = attribute_of(device, attribute);
        return value ? give(out, *value) : INVALID_VALUE;
    });
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice ordinal) {
    return of_device(Call::cuDeviceComputeCapability, ordinal, [&](model::Device &device) -> CUresult {
        if (!major || !minor) return INVALID_VALUE;
        *major = *attribute_of(device, COMPUTE_CAPABILITY_MAJOR);
        *minor = *attribute_of(device, COMPUTE_CAPABILITY_MINOR);
        return SUCCESS;
    });
}

// "[domain]:[bus]:[device].[function], where each is a hexadecimal value": 13 bytes with the end.
CUresult cuDeviceGetPCIBusId(char *out, int room, CUdevice ordinal) {
    return of_device(Call::cuDeviceGetPCIBusId, ordinal, [&](model::Device &device) -> CUresult {
        Pci pci;
        if (!parse(device.profile().pci.c_str(), pci)) return UNKNOWN;
        char words[16];
        std::snprintf(words, sizeof words, "%04X:%02X:%02X.%X", pci.domain & 0xffffu, pci.bus & 0xffu, pci.device & 0xffu,
                      pci.function & 0xfu);
        return text(words, out, room);
    });
}

CUresult cuDeviceGetByPCIBusId(CUdevice *out, const char *words) {
    return call(Call::cuDeviceGetByPCIBusId, [&]() -> CUresult {
        Pci wanted, has;
        if (!out || !words || !parse(words, wanted)) return INVALID_VALUE;
        for (CUdevice ordinal = 0; ordinal < device_count(); ++ordinal) {
            if (!parse(device_of(ordinal)->profile().pci.c_str(), has)) continue;
            if (has.domain == wanted.domain && has.bus == wanted.bus && has.device == wanted.device)
                return give(out, ordinal);
        }
        return INVALID_DEVICE;
    });
}

} // extern "C"

std::optional<int> pci_part(const model::Device &device, int attribute) {
    Pci pci;
    if (!parse(device.profile().pci.c_str(), pci)) return 0;
    switch (attribute) {
    case PCI_BUS_ID:
        return static_cast<int>(pci.bus);
    case PCI_DEVICE_ID:
        return static_cast<int>(pci.device);
    case PCI_DOMAIN_ID:
        return static_cast<int>(pci.domain);
    default:
        return std::nullopt;
    }
}

} // namespace hbf::emulated::cuda
