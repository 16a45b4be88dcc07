// SPDX-License-Identifier: Apache-2.0
// The Level Zero loader of this machine, libze_loader.so.1: opened at run time, never linked, never closed.
#pragma once

#include "plugins/level_zero/api.hpp"

namespace hbf::level_zero {

struct Functions {
    using R = ze::Result;
    // Every loader of API 1.0 and newer has these.
    R (*zeInit)(uint32_t flags) = nullptr;
    R (*zeDriverGet)(uint32_t *count, ze::Driver *drivers) = nullptr;
    R (*zeDriverGetApiVersion)(ze::Driver, uint32_t *version) = nullptr;
    R (*zeDriverGetProperties)(ze::Driver, ze::DriverProperties *) = nullptr;
    R (*zeDeviceGet)(ze::Driver, uint32_t *count, ze::Device *devices) = nullptr;
    R (*zeDeviceGetProperties)(ze::Device, ze::DeviceProperties *) = nullptr;
    R (*zeDeviceGetComputeProperties)(ze::Device, ze::ComputeProperties *) = nullptr;
    R (*zeDeviceGetModuleProperties)(ze::Device, ze::ModuleProperties *) = nullptr;
    R (*zeDeviceGetCommandQueueGroupProperties)(ze::Device, uint32_t *count, ze::GroupProperties *) = nullptr;
    R (*zeDeviceGetMemoryProperties)(ze::Device, uint32_t *count, ze::MemoryProperties *) = nullptr;
    R (*zeDeviceGetMemoryAccessProperties)(ze::Device, ze::MemoryAccessProperties *) = nullptr;
    R (*zeDeviceGetStatus)(ze::Device) = nullptr;
    R (*zeContextCreate)(ze::Driver, const ze::ContextDesc *, ze::Context *) = nullptr;
    R (*zeContextDestroy)(ze::Context) = nullptr;
    R (*zeMemAllocDevice)(ze::Context, const ze::DeviceAllocDesc *, size_t size, size_t alignment, ze::Device,
                          void **) = nullptr;
    R (*zeMemAllocHost)(ze::Context, const ze::HostAllocDesc *, size_t size, size_t alignment, void **) = nullptr;
    R (*zeMemAllocShared)(ze::Context, const ze::DeviceAllocDesc *, const ze::HostAllocDesc *, size_t size, size_t alignment,
                          ze::Device, void **) = nullptr;
    R (*zeMemFree)(ze::Context, void *) = nullptr;
    R (*zeMemGetAllocProperties)(ze::Context, const void *, ze::AllocationProperties *, ze::Device *) = nullptr;
    R (*zeCommandListCreateImmediate)(ze::Context, ze::Device, const ze::QueueDesc *, ze::List *) = nullptr;
    R (*zeCommandListDestroy)(ze::List) = nullptr;
    R (*zeCommandListAppendBarrier)(ze::List, ze::Event signal, uint32_t count, ze::Event *waits) = nullptr;
    R (*zeCommandListAppendMemoryCopy)(ze::List, void *to, const void *from, size_t size, ze::Event signal, uint32_t count,
                                       ze::Event *waits) = nullptr;
    R (*zeCommandListAppendMemoryFill)(ze::List, void *to, const void *pattern, size_t pattern_size, size_t size,
                                       ze::Event signal, uint32_t count, ze::Event *waits) = nullptr;
    R (*zeCommandListAppendLaunchKernel)(ze::List, ze::Kernel, const ze::GroupCount *, ze::Event signal, uint32_t count,
                                         ze::Event *waits) = nullptr;
    R (*zeEventPoolCreate)(ze::Context, const ze::PoolDesc *, uint32_t count, ze::Device *, ze::Pool *) = nullptr;
    R (*zeEventPoolDestroy)(ze::Pool) = nullptr;
    R (*zeEventCreate)(ze::Pool, const ze::EventDesc *, ze::Event *) = nullptr;
    R (*zeEventDestroy)(ze::Event) = nullptr;
    R (*zeEventHostReset)(ze::Event) = nullptr;
    R (*zeEventQueryStatus)(ze::Event) = nullptr;
    R (*zeEventHostSynchronize)(ze::Event, uint64_t timeout) = nullptr;
    R (*zeModuleCreate)(ze::Context, ze::Device, const ze::ModuleDesc *, ze::Module *, ze::BuildLog *) = nullptr;
    R (*zeModuleDestroy)(ze::Module) = nullptr;
    R (*zeModuleBuildLogGetString)(ze::BuildLog, size_t *size, char *) = nullptr;
    R (*zeModuleBuildLogDestroy)(ze::BuildLog) = nullptr;
    R (*zeKernelCreate)(ze::Module, const ze::KernelDesc *, ze::Kernel *) = nullptr;
    R (*zeKernelDestroy)(ze::Kernel) = nullptr;
    R (*zeKernelSetGroupSize)(ze::Kernel, uint32_t x, uint32_t y, uint32_t z) = nullptr;
    R (*zeKernelSetArgumentValue)(ze::Kernel, uint32_t index, size_t size, const void *) = nullptr;
    R (*zeKernelGetProperties)(ze::Kernel, ze::KernelProperties *) = nullptr;

    // Newer, or of a driver's choice: nullptr where the loader has none.
    R (*zeDevicePciGetPropertiesExt)(ze::Device, ze::PciProperties *) = nullptr;
    R (*zeKernelSuggestMaxCooperativeGroupCount)(ze::Kernel, uint32_t *count) = nullptr;
    R (*zesDeviceEnumMemoryModules)(ze::Device, uint32_t *, ze::SysMemory *) = nullptr;
    R (*zesMemoryGetState)(ze::SysMemory, ze::SysMemState *) = nullptr;
    R (*zesDeviceEnumRasErrorSets)(ze::Device, uint32_t *, ze::SysRas *) = nullptr;
    R (*zesRasGetProperties)(ze::SysRas, ze::SysRasProperties *) = nullptr;
    R (*zesRasGetState)(ze::SysRas, uint8_t clear, ze::SysRasState *) = nullptr;
    R (*zesDeviceEnumTemperatureSensors)(ze::Device, uint32_t *, ze::SysTemperature *) = nullptr;
    R (*zesTemperatureGetProperties)(ze::SysTemperature, ze::SysTempProperties *) = nullptr;
    R (*zesTemperatureGetState)(ze::SysTemperature, double *) = nullptr;
    R (*zesDevicePciGetState)(ze::Device, ze::SysPciState *) = nullptr;
    R (*zesDevicePciGetStats)(ze::Device, ze::SysPciStats *) = nullptr;
};

inline constexpr const char *library_name = "libze_loader.so.1";

// [any thread] The same table each time. Throws sdk::Failure, which a later call repeats or, once the library is there, does
// not: UNAVAILABLE "driver_absent: ..." where it cannot be opened, UNSUPPORTED "driver_too_old: ..." where it lacks one.
const Functions &library();
Functions load_library(const char *file); // for tests: that library's functions, or the same reasons why not

} // namespace hbf::level_zero
