// SPDX-License-Identifier: Apache-2.0
// What a device is, by hipDeviceAttribute_t: what [device.attributes] of the profile says, else what follows from the rest
// of the profile.
#include "conformance/emulators/amd/hip/attributes.hpp"

#include <cstdio>

namespace hbf::emulated::hip {
namespace {

struct Pci {
    unsigned domain = 0, bus = 0, device = 0;
};
Pci pci_of(const model::ProfileDevice &profile) {
    Pci pci;
    (void)std::sscanf(profile.pci.c_str(), "%x:%x:%x", &pci.domain, &pci.bus, &pci.device);
    return pci;
}

int kilohertz(uint64_t megahertz) {
    return static_cast<int>(megahertz * 1000);
}

// By the comments of the header's enumeration. nothing: no such attribute.
std::optional<int64_t> derived(model::Device &device, int attribute) {
    const model::ProfileDevice &profile = device.profile();
    const Pci pci = pci_of(profile);
    const bool coherent = profile.host_access_claimed == model::Coherence::hardware;
    switch (attribute) {
    case ECC_ENABLED:
        return 1;
    case ASYNC_ENGINE_COUNT:
        return profile.copy_engines;
    case CAN_MAP_HOST_MEMORY:
    case CAN_USE_HOST_POINTER:
    case CONCURRENT_KERNELS:
    case MANAGED_MEMORY:
    case UNIFIED_ADDRESSING:
    case MEMORY_POOLS_SUPPORTED:
    case CAN_USE_STREAM_WAIT_VALUE:
        return 1;
    // Later than 5.2, where the same numbers mean nothing.
    case VIRTUAL_MEMORY_SUPPORTED:
        return release().major >= 6 ? std::optional<int64_t>(0) : std::nullopt;
    case HOST_REGISTER_SUPPORTED:
        return release().major >= 6 ? std::optional<int64_t>(1) : std::nullopt;
    case CLOCK_RATE:
        return kilohertz(device.health().get(model::Counter::max_clock_mhz));
    case MEMORY_CLOCK_RATE:
        return kilohertz(device.health().get(model::Counter::memory_clock_mhz));
    // Without XNACK managed memory is pinned host memory, and pageable memory is out of reach.
    case CONCURRENT_MANAGED_ACCESS:
    case HOST_NATIVE_ATOMIC:
        return coherent;
    case DIRECT_MANAGED_FROM_HOST:
    case PAGEABLE_MEMORY_ACCESS:
    case PAGEABLE_USES_HOST_PAGE_TABLES:
    case INTEGRATED:
        return profile.cpu_access;
    case L2_CACHE_SIZE:
        return 4 << 20;
    case COMPUTE_CAPABILITY_MAJOR:
        return architecture_of(device).major;
    case COMPUTE_CAPABILITY_MINOR:
        return architecture_of(device).minor;
    case MAX_BLOCK_DIM_X:
    case MAX_BLOCK_DIM_Y:
    case MAX_BLOCK_DIM_Z:
    case MAX_THREADS_PER_BLOCK:
        return profile.max_group_size;
    case MAX_GRID_DIM_X:
        return 0x7fffffff;
    case MAX_GRID_DIM_Y:
    case MAX_GRID_DIM_Z:
        return 65536;
    case MAX_THREADS_PER_MULTIPROCESSOR:
        return 2048;
    case MEMORY_BUS_WIDTH:
        return 8192;
    case MULTIPROCESSOR_COUNT:
    case PHYSICAL_MULTIPROCESSOR_COUNT:
        return profile.compute_units;
    case PCI_BUS_ID:
        return pci.bus;
    case PCI_DEVICE_ID:
        return pci.device;
    case PCI_DOMAIN_ID:
        return pci.domain;
    case MAX_SHARED_MEMORY_PER_BLOCK:
        return 64 * 1024;
    case TOTAL_GLOBAL_MEMORY:
        return static_cast<int64_t>(machine().memory().usage(device.index()).total);
    case WARP_SIZE:
        return profile.warp;
    // A register that nobody can write here: none is said to be.
    case HDP_MEM_FLUSH_CONTROL:
    case HDP_REG_FLUSH_CONTROL:
        return 0;
    case IS_LARGE_BAR:
        return profile.cpu_access;
    case FINE_GRAIN_SUPPORT:
        return coherent;
    default:
        return std::nullopt;
    }
}

} // namespace

std::optional<int> attribute_of(model::Device &device, int attribute) {
    const std::optional<int64_t> value = derived(device, attribute);
    const auto &said = device.profile().attributes;
    if (const auto at = said.find(attribute); at != said.end()) return static_cast<int>(at->second);
    if (!value) return std::nullopt;
    return static_cast<int>(*value);
}

Architecture architecture_of(const model::Device &device) {
    const std::string &text = device.profile().architecture; // "gfx942": 9, 4, 2; the last two are hexadecimal digits
    Architecture out;
    if (text.size() < 6 || text.compare(0, 3, "gfx") != 0) return out;
    out.major = std::atoi(text.substr(3, text.size() - 5).c_str());
    out.minor = static_cast<int>(std::strtol(text.substr(text.size() - 2, 1).c_str(), nullptr, 16));
    return out;
}

std::string full_architecture(const model::Device &device) {
    return device.text("gcn_arch_name", device.profile().architecture + ":sramecc+:xnack-");
}

extern "C" {

// Header, hipDeviceGetAttribute: hipErrorInvalidValue for an attribute that is not known.
hipError_t hipDeviceGetAttribute(int *out, int attribute, int device) {
    return of_device(Call::hipDeviceGetAttribute, device, [&](model::Device &of) -> hipError_t {
        const std::optional<int> value = attribute_of(of, attribute);
        return value ? give(out, *value) : hipErrorInvalidValue;
    });
}

// Header, hipDeviceComputeCapability: "major, minor compute capability of the device".
hipError_t hipDeviceComputeCapability(int *major, int *minor, hipDevice_t device) {
    return of_device(Call::hipDeviceComputeCapability, device, [&](model::Device &of) -> hipError_t {
        if (!major || !minor) return hipErrorInvalidValue;
        *major = architecture_of(of).major;
        *minor = architecture_of(of).minor;
        return hipSuccess;
    });
}

} // extern "C"
} // namespace hbf::emulated::hip
