// SPDX-License-Identifier: Apache-2.0
// Level Zero 1.4 as far as it is used here, declared anew: no header of Intel's is needed. tests/abi_check.cpp compares
// every size, offset, number and prototype with the vendor's header where there is one. Names without their ze_ and _t.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hbf::level_zero::ze {

using Result = uint32_t;
inline constexpr Result success = 0, not_ready = 1, device_lost = 0x70000001, out_of_host_memory = 0x70000002,
                        out_of_device_memory = 0x70000003, module_build_failure = 0x70000004,
                        device_requires_reset = 0x70000006, device_in_low_power_state = 0x70000007,
                        insufficient_permissions = 0x70010000, not_available = 0x70010001,
                        dependency_unavailable = 0x70020000, uninitialized = 0x78000001, unsupported_version = 0x78000002,
                        unsupported_feature = 0x78000003, invalid_argument = 0x78000004, invalid_null_handle = 0x78000005,
                        object_in_use = 0x78000006, invalid_null_pointer = 0x78000007, invalid_size = 0x78000008,
                        unsupported_size = 0x78000009, unsupported_alignment = 0x7800000a,
                        invalid_synchronization_object = 0x7800000b, invalid_enumeration = 0x7800000c,
                        unsupported_enumeration = 0x7800000d, invalid_native_binary = 0x7800000f,
                        invalid_kernel_name = 0x78000011, invalid_group_size = 0x78000013,
                        invalid_kernel_argument_index = 0x78000015, invalid_kernel_argument_size = 0x78000016,
                        unknown = 0x7ffffffe;

// Handles: each points to something of the driver's.
using Driver = struct DriverObject *;
using Device = struct DeviceObject *;
using Context = struct ContextObject *;
using List = struct ListObject *;
using Pool = struct PoolObject *;
using Event = struct EventObject *;
using Module = struct ModuleObject *;
using BuildLog = struct BuildLogObject *;
using Kernel = struct KernelObject *;
using SysMemory = struct SysMemoryObject *;
using SysRas = struct SysRasObject *;
using SysTemperature = struct SysTemperatureObject *;

// The first field of every struct that is passed by pointer, but for few.
enum Type : uint32_t {
    type_driver_properties = 0x1,
    type_device_properties = 0x3,
    type_compute_properties = 0x4,
    type_module_properties = 0x5,
    type_group_properties = 0x6,
    type_memory_properties = 0x7,
    type_memory_access_properties = 0x8,
    type_context_desc = 0xd,
    type_queue_desc = 0xe,
    type_pool_desc = 0x10,
    type_event_desc = 0x11,
    type_device_alloc_desc = 0x15,
    type_host_alloc_desc = 0x16,
    type_allocation_properties = 0x17,
    type_module_desc = 0x1b,
    type_kernel_desc = 0x1d,
    type_kernel_properties = 0x1e,
    type_pci_properties = 0x10008,
};
enum SysType : uint32_t {
    sys_type_ras_properties = 0xf,
    sys_type_temp_properties = 0x14,
    sys_type_pci_state = 0x17,
    sys_type_mem_state = 0x1e,
    sys_type_ras_state = 0x22,
};

inline constexpr uint32_t gpu = 1;                                                            // ze_device_type_t
inline constexpr uint32_t integrated = 1, ecc = 4;                                            // ze_device_property_flag_t
inline constexpr uint32_t computes = 1, copies = 2;                                           // of a group of queues
inline constexpr uint32_t asynchronous = 2;                                                   // ze_command_queue_mode_t
inline constexpr uint32_t host_visible = 1;                                                   // ze_event_pool_flag_t
inline constexpr uint32_t scope_device = 2, scope_host = 4;                                   // ze_event_scope_flag_t
inline constexpr uint32_t access_rw = 1, access_concurrent = 4, access_concurrent_atomic = 8; // ze_memory_access_cap_flag_t
inline constexpr uint32_t has_fp16 = 1, has_fp64 = 2, has_int64_atomics = 4;                  // ze_device_module_flag_t
inline constexpr uint32_t memory_host = 1, memory_device = 2, memory_shared = 3;              // ze_memory_type_t
inline constexpr uint32_t format_spirv = 0;                                                   // ze_module_format_t

struct DriverProperties {
    uint32_t stype = type_driver_properties;
    void *pNext = nullptr;
    uint8_t uuid[16];
    uint32_t driverVersion;
};
struct DeviceProperties {
    uint32_t stype = type_device_properties;
    void *pNext = nullptr;
    uint32_t type, vendorId, deviceId, flags, subdeviceId, coreClockRate;
    uint64_t maxMemAllocSize;
    uint32_t maxHardwareContexts, maxCommandQueuePriority, numThreadsPerEU, physicalEUSimdWidth, numEUsPerSubslice,
        numSubslicesPerSlice, numSlices;
    uint64_t timerResolution;
    uint32_t timestampValidBits, kernelTimestampValidBits;
    uint8_t uuid[16];
    char name[256];
};
struct ComputeProperties {
    uint32_t stype = type_compute_properties;
    void *pNext = nullptr;
    uint32_t maxTotalGroupSize, maxGroupSizeX, maxGroupSizeY, maxGroupSizeZ, maxGroupCountX, maxGroupCountY, maxGroupCountZ,
        maxSharedLocalMemory, numSubGroupSizes;
    uint32_t subGroupSizes[8];
};
struct ModuleProperties {
    uint32_t stype = type_module_properties;
    void *pNext = nullptr;
    uint32_t spirvVersionSupported, flags, fp16flags, fp32flags, fp64flags, maxArgumentsSize, printfBufferSize;
    uint8_t nativeKernelSupported[16];
};
struct GroupProperties {
    uint32_t stype = type_group_properties;
    void *pNext = nullptr;
    uint32_t flags;
    size_t maxMemoryFillPatternSize;
    uint32_t numQueues;
};
struct MemoryProperties {
    uint32_t stype = type_memory_properties;
    void *pNext = nullptr;
    uint32_t flags, maxClockRate, maxBusWidth;
    uint64_t totalSize;
    char name[256];
};
struct MemoryAccessProperties {
    uint32_t stype = type_memory_access_properties;
    void *pNext = nullptr;
    uint32_t hostAllocCapabilities, deviceAllocCapabilities, sharedSingleDeviceAllocCapabilities,
        sharedCrossDeviceAllocCapabilities, sharedSystemAllocCapabilities;
};
struct PciProperties {
    uint32_t stype = type_pci_properties;
    void *pNext = nullptr;
    uint32_t domain, bus, device, function;
    int32_t genVersion, width;
    int64_t maxBandwidth;
};
struct ContextDesc {
    uint32_t stype = type_context_desc;
    const void *pNext = nullptr;
    uint32_t flags = 0;
};
struct QueueDesc {
    uint32_t stype = type_queue_desc;
    const void *pNext = nullptr;
    uint32_t ordinal = 0, index = 0, flags = 0, mode = asynchronous, priority = 0;
};
struct PoolDesc {
    uint32_t stype = type_pool_desc;
    const void *pNext = nullptr;
    uint32_t flags = 0, count = 0;
};
struct EventDesc {
    uint32_t stype = type_event_desc;
    const void *pNext = nullptr;
    uint32_t index = 0, signal = 0, wait = 0;
};
struct DeviceAllocDesc {
    uint32_t stype = type_device_alloc_desc;
    const void *pNext = nullptr;
    uint32_t flags = 0, ordinal = 0;
};
struct HostAllocDesc {
    uint32_t stype = type_host_alloc_desc;
    const void *pNext = nullptr;
    uint32_t flags = 0;
};
struct AllocationProperties {
    uint32_t stype = type_allocation_properties;
    void *pNext = nullptr;
    uint32_t type;
    uint64_t id, pageSize;
};
struct ModuleDesc {
    uint32_t stype = type_module_desc;
    const void *pNext = nullptr;
    uint32_t format = format_spirv;
    size_t inputSize = 0;
    const uint8_t *pInputModule = nullptr;
    const char *pBuildFlags = nullptr;
    const void *pConstants = nullptr;
};
struct KernelDesc {
    uint32_t stype = type_kernel_desc;
    const void *pNext = nullptr;
    uint32_t flags = 0;
    const char *pKernelName = nullptr;
};
struct KernelProperties {
    uint32_t stype = type_kernel_properties;
    void *pNext = nullptr;
    uint32_t numKernelArgs, requiredGroupSizeX, requiredGroupSizeY, requiredGroupSizeZ, requiredNumSubGroups,
        requiredSubgroupSize, maxSubgroupSize, maxNumSubgroups, localMemSize, privateMemSize, spillMemSize;
    uint8_t uuid[32];
};
struct GroupCount {
    uint32_t x, y, z;
};

// Sysman
struct SysMemState {
    uint32_t stype = sys_type_mem_state;
    const void *pNext = nullptr;
    uint32_t health;
    uint64_t free, size;
};
struct SysRasProperties {
    uint32_t stype = sys_type_ras_properties;
    void *pNext = nullptr;
    uint32_t type; // 0 correctable, 1 uncorrectable
    uint8_t onSubdevice;
    uint32_t subdeviceId;
};
inline constexpr uint32_t ras_categories = 7;
struct SysRasState {
    uint32_t stype = sys_type_ras_state;
    const void *pNext = nullptr;
    uint64_t category[ras_categories]; // resets, programming, driver, compute, non-compute, cache, display
};
struct SysTempProperties {
    uint32_t stype = sys_type_temp_properties;
    void *pNext = nullptr;
    uint32_t type; // 0 global, 1 GPU, 2 memory
    uint8_t onSubdevice;
    uint32_t subdeviceId;
    double maxTemperature;
    uint8_t isCriticalTempSupported, isThreshold1Supported, isThreshold2Supported;
};
struct SysPciSpeed {
    int32_t gen, width;
    int64_t maxBandwidth;
};
struct SysPciState {
    uint32_t stype = sys_type_pci_state;
    const void *pNext = nullptr;
    uint32_t status, qualityIssues, stabilityIssues;
    SysPciSpeed speed;
};
struct SysPciStats {
    uint64_t timestamp, replayCounter, packetCounter, rxCounter, txCounter;
    SysPciSpeed speed;
};

} // namespace hbf::level_zero::ze
