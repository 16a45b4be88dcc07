// SPDX-License-Identifier: Apache-2.0
// cn_api.h, "Version Management", "Device Management", "Context Management".
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include "conformance/emulators/cambricon/driver/driver.hpp"
#include "conformance/emulators/cambricon/version.hpp"

namespace hbf::emulated::cn {
namespace {

constexpr CNdev mark = 0xcabc0000;
constexpr uint64_t mebibyte = 1 << 20;

CNresult give(Call function, const Version &version, int *major, int *minor, int *patch) {
    calls().count(static_cast<size_t>(function));
    if (!major || !minor || !patch) return INVALID_VALUE;
    *major = version.major, *minor = version.minor, *patch = version.patch;
    return SUCCESS;
}

// "CN_ERROR_INVALID_VALUE if the text is longer than the room for it."
CNresult give_text(const std::string &text, char *to, size_t size) {
    if (!to || text.size() + 1 > size) return INVALID_VALUE;
    std::memcpy(to, text.c_str(), text.size() + 1);
    return SUCCESS;
}

int pci_part(const model::Device &device, int which) { // 0: domain, 1: bus, 2: device
    unsigned part[4] = {};
    (void)std::sscanf(device.profile().pci.c_str(), "%x:%x:%x.%x", &part[0], &part[1], &part[2], &part[3]);
    return static_cast<int>(part[which]);
}

std::optional<int64_t> own_attribute(const model::Device &device, int attribute) {
    switch (attribute) {
    case COMPUTE_CAPABILITY_MAJOR:
        return 3;
    case QUEUE_COUNT:
        return 4096;
    case CLUSTER_COUNT:
        return device.profile().compute_units;
    case CORES_PER_CLUSTER:
        return 4;
    case ISA_VERSION:
        return 372; // MLU370
    case MAX_PERSISTING_L2:
        return 0; // none on MLU370: the kernel driver's attribute table
    case AVAILABLE_MEMORY_MB:
        return static_cast<int64_t>((device.profile().memory - device.profile().reserved) / mebibyte);
    case TOTAL_MEMORY_MB:
        return static_cast<int64_t>(device.profile().memory / mebibyte);
    case ECC_ENABLED:
        return 0;
    case PCI_DOMAIN:
        return pci_part(device, 0);
    case PCI_BUS:
        return pci_part(device, 1);
    case PCI_DEVICE:
        return pci_part(device, 2);
    default:
        return std::nullopt;
    }
}

} // namespace

extern "C" {

// "flags must be 0."
CNresult cnInit(unsigned int flags) {
    calls().count(static_cast<size_t>(Call::cnInit));
    return flags != 0 ? INVALID_VALUE : initialize();
}

// "The CNDrv version that the kernel's driver supports."
CNresult cnDriverGetVersion(int *major, int *minor, int *patch) {
    return give(Call::cnDriverGetVersion, cambricon_version("cndrv_version", "2.15.5"), major, minor, patch);
}
CNresult cnGetLibVersion(int *major, int *minor, int *patch) {
    return give(Call::cnGetLibVersion, cambricon_version("cndrv_version", "2.15.5"), major, minor, patch);
}
CNresult cnGetDriverVersion(int *major, int *minor, int *patch) {
    return give(Call::cnGetDriverVersion, cambricon_version("driver_version", "5.10.22"), major, minor, patch);
}

CNresult cnDeviceGetCount(int *count) {
    return call(Call::cnDeviceGetCount, [&]() -> CNresult {
        if (!count) return INVALID_VALUE;
        *count = device_count();
        return SUCCESS;
    });
}

CNresult cnDeviceGet(CNdev *device, int ordinal) {
    return call(Call::cnDeviceGet, [&]() -> CNresult {
        if (!device) return INVALID_VALUE;
        if (ordinal < 0 || ordinal >= device_count()) return INVALID_DEVICE;
        *device = mark + static_cast<CNdev>(ordinal);
        return SUCCESS;
    });
}

CNresult cnDeviceGetName(char *name, unsigned int size, CNdev device) {
    return of_device(Call::cnDeviceGetName, device, [&](model::Device &one) { return give_text(one.name(), name, size); });
}

CNresult cnDeviceTotalMem(uint64_t *bytes, CNdev device) {
    return of_device(Call::cnDeviceTotalMem, device, [&](model::Device &one) -> CNresult {
        if (!bytes) return INVALID_VALUE;
        *bytes = machine().memory().usage(one.index()).total;
        return SUCCESS;
    });
}

CNresult cnDeviceGetAttribute(int *value, int attribute, CNdev device) {
    return of_device(Call::cnDeviceGetAttribute, device, [&](model::Device &one) -> CNresult {
        if (!value) return INVALID_VALUE;
        constexpr int64_t nothing = INT64_MIN;
        int64_t found = one.attribute(attribute, nothing);
        if (found == nothing) {
            const auto own = own_attribute(one, attribute);
            if (!own) return INVALID_VALUE;
            found = *own;
        }
        *value = static_cast<int>(found);
        return SUCCESS;
    });
}

// "dddd:bb:dd.f, at least 13 bytes."
CNresult cnDeviceGetPCIBusId(char *text, int size, CNdev device) {
    return of_device(Call::cnDeviceGetPCIBusId, device, [&](model::Device &one) {
        return size < 13 ? static_cast<CNresult>(INVALID_VALUE)
                         : give_text(one.profile().pci, text, static_cast<size_t>(size));
    });
}

CNresult cnDeviceGetUuidStr(char *text, int size, CNdev device) {
    return of_device(Call::cnDeviceGetUuidStr, device, [&](model::Device &one) {
        return give_text(one.profile().uuid, text, static_cast<size_t>(std::max(size, 0)));
    });
}

CNresult cnDeviceCanPeerAble(int *able, CNdev source, CNdev destination) {
    return of_device(Call::cnDeviceCanPeerAble, source, [&](model::Device &one) -> CNresult {
        const Context *const other = context_of(destination);
        if (!other) return INVALID_DEVICE;
        if (!able) return INVALID_VALUE;
        *able = machine().peer_advertised(one.index(), other->device->index()) ? 1 : 0;
        return SUCCESS;
    });
}

CNresult cnSharedContextAcquire(CNcontext *context, CNdev device) {
    return of_device(Call::cnSharedContextAcquire, device, [&](model::Device &) -> CNresult {
        if (!context) return INVALID_VALUE;
        *context = context_of(device);
        return SUCCESS;
    });
}

// The process's one: it stays.
CNresult cnSharedContextRelease(CNdev device) {
    return of_device(Call::cnSharedContextRelease, device, [](model::Device &) -> CNresult { return SUCCESS; });
}

CNresult cnCtxGetCurrent(CNcontext *context) {
    return call(Call::cnCtxGetCurrent, [&]() -> CNresult {
        if (!context) return INVALID_VALUE;
        *context = current();
        return SUCCESS;
    });
}

CNresult cnCtxSetCurrent(CNcontext context) {
    return call(Call::cnCtxSetCurrent, [&]() -> CNresult {
        bool known = !context; // NULL: none is current from then on
        for (int i = 0; i < device_count(); ++i) known |= context_of(mark + static_cast<CNdev>(i)) == context;
        if (!known) return CONTEXT_INVALID;
        set_current(context);
        return SUCCESS;
    });
}

CNresult cnCtxGetDevice(CNdev *device) {
    return call(Call::cnCtxGetDevice, [&]() -> CNresult {
        if (!device) return INVALID_VALUE;
        if (!current()) return CONTEXT_INVALID;
        *device = mark + static_cast<CNdev>(current()->ordinal);
        return SUCCESS;
    });
}

// "Blocks until all preceding tasks of the context are over; returns an error if one of them failed."
CNresult cnCtxSync(void) {
    return in_context(Call::cnCtxSync, [](Context &context) { return code(context.device->synchronize()); });
}

} // extern "C"

} // namespace hbf::emulated::cn
