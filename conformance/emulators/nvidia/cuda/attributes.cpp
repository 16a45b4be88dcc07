// SPDX-License-Identifier: Apache-2.0
#include "conformance/emulators/nvidia/cuda/attributes.hpp"

#include <cstdlib>
#include <string>

#include "conformance/emulators/nvidia/cuda/runtime.hpp"

namespace hbf::emulated::cuda {
namespace {

// "sm_90" is 9.0.
int capability(const model::ProfileDevice &device, bool major) {
    const std::string &name = device.architecture;
    const int number = name.starts_with("sm_") ? std::atoi(name.c_str() + 3) : 0;
    return major ? number / 10 : number % 10;
}

bool coherent(model::Device &device) { // GH200: the CPU and the device share page tables (ATS)
    return device.profile().cpu_access;
}

// The limits of every device since compute capability 3.5 (programming guide, "Compute capabilities"), and abilities that
// every emulated device has. "The GPU is not integrated" and the like are 0, as is all that is not here.
int derived(model::Device &device, int attribute) {
    const model::ProfileDevice &profile = device.profile();
    switch (attribute) {
    case MAX_THREADS_PER_BLOCK:
    case MAX_BLOCK_DIM_X:
    case MAX_BLOCK_DIM_Y:
        return static_cast<int>(profile.max_group_size);
    case MAX_BLOCK_DIM_Z:
        return 64;
    case MAX_GRID_DIM_X:
        return 0x7fffffff;
    case MAX_GRID_DIM_Y:
    case MAX_GRID_DIM_Z:
        return 65535;
    case MAX_SHARED_MEMORY_PER_BLOCK:
        return 48 << 10;
    case TOTAL_CONSTANT_MEMORY:
        return 64 << 10;
    case WARP_SIZE:
        return static_cast<int>(profile.warp);
    case MULTIPROCESSOR_COUNT:
        return static_cast<int>(profile.compute_units);
    case MAX_THREADS_PER_MULTIPROCESSOR:
        return 2048;
    case ASYNC_ENGINE_COUNT:
        return static_cast<int>(profile.copy_engines);
    case COMPUTE_CAPABILITY_MAJOR:
        return capability(profile, true);
    case COMPUTE_CAPABILITY_MINOR:
        return capability(profile, false);
    case HOST_NATIVE_ATOMIC_SUPPORTED:
    case PAGEABLE_MEMORY_ACCESS:
    case PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES:
    case DIRECT_MANAGED_MEM_ACCESS_FROM_HOST:
        return coherent(device) ? 1 : 0;
    case NUMA_CONFIG:
        return profile.memory_node >= 0 ? 1 : 0; // CU_DEVICE_NUMA_CONFIG_NUMA_NODE
    case NUMA_ID:
        return profile.memory_node;
    case HOST_NUMA_ID:
        return profile.numa;
    case GPU_PCI_DEVICE_ID:
        return static_cast<int>((uint32_t{profile.pci_device} << 16) | profile.pci_vendor);
    case GPU_OVERLAP:
    case CAN_MAP_HOST_MEMORY:
    case CONCURRENT_KERNELS:
    case ECC_ENABLED:
    case UNIFIED_ADDRESSING:
    case STREAM_PRIORITIES_SUPPORTED:
    case MANAGED_MEMORY:
    case CONCURRENT_MANAGED_ACCESS:
    case CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM:
    case HOST_REGISTER_SUPPORTED:
    case VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case READ_ONLY_HOST_REGISTER_SUPPORTED:
    case MEMORY_POOLS_SUPPORTED:
    case CAN_USE_64_BIT_STREAM_MEM_OPS:
    case CAN_USE_STREAM_WAIT_VALUE_NOR:
        return 1;
    default:
        return 0;
    }
}

constexpr int first_attribute = 1, last_attribute = 147; // of release 13.0

// The attributes by which a program tells that device and host agree by hardware.
bool says_coherent(int attribute) {
    return attribute == HOST_NATIVE_ATOMIC_SUPPORTED || attribute == PAGEABLE_MEMORY_ACCESS ||
           attribute == PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES || attribute == DIRECT_MANAGED_MEM_ACCESS_FROM_HOST;
}

} // namespace

std::optional<int> attribute_of(model::Device &device, int attribute) {
    if (attribute < first_attribute || attribute > last_attribute) return std::nullopt;
    if (const std::optional<int> part = pci_part(device, attribute)) return part;
    if (says_coherent(attribute) && machine().faults().on(model::Fault::coherence_lies, device.index())) return 1;
    return static_cast<int>(device.attribute(attribute, derived(device, attribute)));
}

} // namespace hbf::emulated::cuda
