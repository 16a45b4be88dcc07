// SPDX-License-Identifier: Apache-2.0
// Drivers, devices and contexts.
#include <cstdlib>

#include "conformance/emulators/level_zero/driver.hpp"

namespace hbf::emulated::l0 {
namespace {

using model::Fault;

void uuid_of(const model::ProfileDevice &profile, uint8_t (&out)[16]) {
    std::string digits = profile.uuid;
    std::erase_if(digits, [](char c) { return c == '-'; });
    digits.resize(32, '0');
    for (size_t i = 0; i < 16; ++i) out[i] = static_cast<uint8_t>(std::stoi(digits.substr(2 * i, 2), nullptr, 16));
}

uint32_t version() {
    model::Machine &m = machine();
    if (m.faults().on(Fault::garbage_version, -1)) return 0xfedcba98;
    if (m.faults().on(Fault::old_driver, -1)) return static_cast<uint32_t>(m.faults().value(Fault::old_driver, 0x9));
    return static_cast<uint32_t>(m.profile().vendor_number("level_zero", "api_version", 0x10004));
}

// Groups of queues: one that does all, and engines that only copy, as Intel's GPUs have them ("main" and "link" engines).
constexpr uint32_t group_count = 2;

} // namespace
} // namespace hbf::emulated::l0

using namespace hbf::emulated::l0;
using hbf::model::Device;
using hbf::model::MemoryKind;

// The loader takes one driver handle of each driver; with several it wraps them.
HBF_ZE zeDriverGet(uint32_t *count, ze::Driver *drivers) {
    if (!started()) return ze::uninitialized;
    return enumerate(count, drivers, 1, [](uint32_t) { return &driver(); });
}

HBF_ZE zeDriverGetApiVersion(ze::Driver handle, uint32_t *out) {
    if (!handle) return ze::invalid_null_handle;
    if (!out) return ze::invalid_null_pointer;
    *out = version();
    return ze::success;
}

HBF_ZE zeDriverGetProperties(ze::Driver handle, ze::DriverProperties *out) {
    if (!handle) return ze::invalid_null_handle;
    if (!out) return ze::invalid_null_pointer;
    std::memset(out->uuid, 0x48, sizeof out->uuid);
    out->driverVersion = static_cast<uint32_t>(machine().profile().vendor_number("level_zero", "driver_version", 1));
    return ze::success;
}

// ze_driver_ipc_properties_t {stype, pNext, flags}: neither memory nor events go to other processes here.
HBF_ZE zeDriverGetIpcProperties(ze::Driver handle, ze::ContextDesc *out) {
    if (!handle) return ze::invalid_null_handle;
    if (!out) return ze::invalid_null_pointer;
    out->flags = 0;
    return ze::success;
}

// Of extensions, the PCI properties.
HBF_ZE zeDriverGetExtensionProperties(ze::Driver handle, uint32_t *count, void *out) {
    if (!handle) return ze::invalid_null_handle;
    struct Extension {
        char name[256];
        uint32_t version;
    };
    return enumerate(count, static_cast<Extension *>(out), 1, [](uint32_t) {
        Extension one{};
        put(one.name, "ZE_extension_pci_properties");
        one.version = 0x10000;
        return one;
    });
}

HBF_ZE zeDeviceGet(ze::Driver handle, uint32_t *count, ze::Device *out) {
    if (!handle) return ze::invalid_null_handle;
    return enumerate(count, out, devices().size(), [](uint32_t i) { return devices()[i]; });
}

// A device without tiles has none: *count is 0.
HBF_ZE zeDeviceGetSubDevices(ze::Device handle, uint32_t *count, ze::Device *) {
    if (!handle) return ze::invalid_null_handle;
    if (!count) return ze::invalid_null_pointer;
    *count = 0;
    return ze::success;
}

HBF_ZE zeDeviceGetProperties(ze::Device handle, ze::DeviceProperties *out) {
    if (!handle) return ze::invalid_null_handle;
    if (!out) return ze::invalid_null_pointer;
    const auto stype = out->stype;
    void *const next = out->pNext;
    *out = {};
    out->stype = stype, out->pNext = next;
    Device &device = device_of(handle->index);
    const hbf::model::ProfileDevice &profile = device.profile();
    out->type = ze::gpu;
    out->vendorId = profile.pci_vendor, out->deviceId = profile.pci_device;
    out->flags = ze::ecc;
    out->coreClockRate = static_cast<uint32_t>(device.health().get(hbf::model::Counter::max_clock_mhz));
    out->maxMemAllocSize = profile.memory;
    out->maxHardwareContexts = 65536;
    out->numThreadsPerEU = 8, out->physicalEUSimdWidth = profile.warp / 2, out->numEUsPerSubslice = 8;
    out->numSubslicesPerSlice = profile.compute_units, out->numSlices = 1;
    out->timerResolution = 1;
    out->timestampValidBits = out->kernelTimestampValidBits = 64;
    uuid_of(profile, out->uuid);
    put(out->name, device.name());
    return ze::success;
}

HBF_ZE zeDeviceGetComputeProperties(ze::Device handle, ze::ComputeProperties *out) {
    if (!handle) return ze::invalid_null_handle;
    if (!out) return ze::invalid_null_pointer;
    const uint32_t most = device_of(handle->index).profile().max_group_size;
    out->maxTotalGroupSize = out->maxGroupSizeX = out->maxGroupSizeY = out->maxGroupSizeZ = most;
    out->maxGroupCountX = out->maxGroupCountY = out->maxGroupCountZ = 0x7fffffff;
    out->maxSharedLocalMemory = 65536;
    out->numSubGroupSizes = 1;
    std::memset(out->subGroupSizes, 0, sizeof out->subGroupSizes);
    out->subGroupSizes[0] = device_of(handle->index).profile().warp;
    return ze::success;
}

HBF_ZE zeDeviceGetModuleProperties(ze::Device handle, ze::ModuleProperties *out) {
    if (!handle) return ze::invalid_null_handle;
    if (!out) return ze::invalid_null_pointer;
    out->spirvVersionSupported = 0x10002;
    out->flags = ze::has_fp16 | ze::has_fp64 | ze::has_int64_atomics;
    out->fp16flags = out->fp32flags = out->fp64flags = 0xbf;
    out->maxArgumentsSize = 2048;
    out->printfBufferSize = 4 << 20;
    std::memset(out->nativeKernelSupported, 0, sizeof out->nativeKernelSupported);
    return ze::success;
}

HBF_ZE zeDeviceGetCommandQueueGroupProperties(ze::Device handle, uint32_t *count, ze::GroupProperties *out) {
    if (!handle) return ze::invalid_null_handle;
    if (!count) return ze::invalid_null_pointer;
    if (*count == 0 || *count > group_count) *count = group_count;
    for (uint32_t i = 0; out && i < *count; ++i) {
        out[i].flags = i == 0 ? ze::computes | ze::copies : ze::copies;
        out[i].maxMemoryFillPatternSize = 16; // what the machine fills
        out[i].numQueues = i == 0 ? 4 : device_of(handle->index).profile().copy_engines;
    }
    return ze::success;
}

HBF_ZE zeDeviceGetMemoryProperties(ze::Device handle, uint32_t *count, ze::MemoryProperties *out) {
    if (!handle) return ze::invalid_null_handle;
    if (!count) return ze::invalid_null_pointer;
    *count = 1;
    if (!out) return ze::success;
    Device &device = device_of(handle->index);
    out->flags = 0;
    out->maxClockRate = static_cast<uint32_t>(device.health().get(hbf::model::Counter::memory_clock_mhz));
    out->maxBusWidth = 64;
    out->totalSize = machine().memory().usage(handle->index).total;
    put(out->name, "HBM");
    return ze::success;
}

HBF_ZE zeDeviceGetMemoryAccessProperties(ze::Device handle, ze::MemoryAccessProperties *out) {
    if (!handle) return ze::invalid_null_handle;
    if (!out) return ze::invalid_null_pointer;
    const bool coherent = device_of(handle->index).profile().host_access_claimed == hbf::model::Coherence::hardware;
    const uint32_t full = 15, plain = ze::access_rw | 2;
    out->hostAllocCapabilities = coherent ? full : plain;
    out->deviceAllocCapabilities = full;
    out->sharedSingleDeviceAllocCapabilities = coherent ? full : plain;
    out->sharedCrossDeviceAllocCapabilities = plain;
    out->sharedSystemAllocCapabilities = 0;
    return ze::success;
}

HBF_ZE zeDeviceCanAccessPeer(ze::Device handle, ze::Device peer, uint8_t *out) {
    if (any_null(handle, peer)) return ze::invalid_null_handle;
    if (!out) return ze::invalid_null_pointer;
    *out = handle == peer || machine().peer_advertised(handle->index, peer->index);
    return ze::success;
}

HBF_ZE zeDeviceGetStatus(ze::Device handle) {
    return handle ? state_of(handle->index) : ze::invalid_null_handle;
}

// "ZE_extension_pci_properties"
HBF_ZE zeDevicePciGetPropertiesExt(ze::Device handle, ze::PciProperties *out) {
    if (!handle) return ze::invalid_null_handle;
    if (!out) return ze::invalid_null_pointer;
    unsigned domain = 0, bus = 0, number = 0, function = 0;
    const std::string &at = device_of(handle->index).profile().pci;
    if (std::sscanf(at.c_str(), "%x:%x:%x.%x", &domain, &bus, &number, &function) != 4) return ze::unknown;
    out->domain = domain, out->bus = bus, out->device = number, out->function = function;
    const hbf::model::LinkState link = machine().host_link(handle->index);
    out->genVersion = static_cast<int32_t>(link.generation), out->width = static_cast<int32_t>(link.width);
    out->maxBandwidth = static_cast<int64_t>(link.bandwidth);
    return ze::success;
}

HBF_ZE zeContextCreate(ze::Driver handle, const ze::ContextDesc *desc, ze::Context *out) {
    if (!handle) return ze::invalid_null_handle;
    if (any_null(desc, out)) return ze::invalid_null_pointer;
    if (desc->flags & ~1u) return ze::invalid_enumeration;
    *out = new ze::ContextObject{handle};
    return ze::success;
}

HBF_ZE zeContextDestroy(ze::Context context) {
    if (!context) return ze::invalid_null_handle;
    delete context;
    return ze::success;
}

HBF_ZE zeContextGetStatus(ze::Context context) {
    if (!context) return ze::invalid_null_handle;
    for (const ze::DeviceObject *const one : devices())
        if (const Result state = state_of(one->index); state != ze::success) return state;
    return ze::success;
}
