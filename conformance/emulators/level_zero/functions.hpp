// SPDX-License-Identifier: Apache-2.0
// The functions that this driver has.
#pragma once

#include "conformance/emulators/level_zero/driver.hpp"

namespace ze = hbf::level_zero::ze;
HBF_ZE zeInit(uint32_t flags);
HBF_ZE zeDriverGet(uint32_t *count, ze::Driver *drivers);
HBF_ZE zeDriverGetApiVersion(ze::Driver handle, uint32_t *out);
HBF_ZE zeDriverGetProperties(ze::Driver handle, ze::DriverProperties *out);
HBF_ZE zeDriverGetIpcProperties(ze::Driver handle, ze::ContextDesc *out);
HBF_ZE zeDriverGetExtensionProperties(ze::Driver handle, uint32_t *count, void *out);
HBF_ZE zeDeviceGet(ze::Driver handle, uint32_t *count, ze::Device *out);
HBF_ZE zeDeviceGetSubDevices(ze::Device handle, uint32_t *count, ze::Device *);
HBF_ZE zeDeviceGetProperties(ze::Device handle, ze::DeviceProperties *out);
HBF_ZE zeDeviceGetComputeProperties(ze::Device handle, ze::ComputeProperties *out);
HBF_ZE zeDeviceGetModuleProperties(ze::Device handle, ze::ModuleProperties *out);
HBF_ZE zeDeviceGetCommandQueueGroupProperties(ze::Device handle, uint32_t *count, ze::GroupProperties *out);
HBF_ZE zeDeviceGetMemoryProperties(ze::Device handle, uint32_t *count, ze::MemoryProperties *out);
HBF_ZE zeDeviceGetMemoryAccessProperties(ze::Device handle, ze::MemoryAccessProperties *out);
HBF_ZE zeDeviceCanAccessPeer(ze::Device handle, ze::Device peer, uint8_t *out);
HBF_ZE zeDeviceGetStatus(ze::Device handle);
HBF_ZE zeDevicePciGetPropertiesExt(ze::Device handle, ze::PciProperties *out);
HBF_ZE zeContextCreate(ze::Driver handle, const ze::ContextDesc *desc, ze::Context *out);
HBF_ZE zeContextDestroy(ze::Context context);
HBF_ZE zeContextGetStatus(ze::Context context);
HBF_ZE zeMemAllocDevice(ze::Context context, const ze::DeviceAllocDesc *desc, size_t size, size_t alignment,
                        ze::Device device, void **out);
HBF_ZE zeMemAllocHost(ze::Context context, const ze::HostAllocDesc *desc, size_t size, size_t alignment, void **out);
HBF_ZE zeMemAllocShared(ze::Context context, const ze::DeviceAllocDesc *desc, const ze::HostAllocDesc *host, size_t size,
                        size_t alignment, ze::Device device, void **out);
HBF_ZE zeMemFree(ze::Context context, void *at);
HBF_ZE zeMemGetAllocProperties(ze::Context context, const void *at, ze::AllocationProperties *out, ze::Device *owner);
HBF_ZE zeMemGetAddressRange(ze::Context context, const void *at, void **base, size_t *size);
HBF_ZE zeEventPoolCreate(ze::Context context, const ze::PoolDesc *desc, uint32_t, ze::Device *, ze::Pool *out);
HBF_ZE zeEventPoolDestroy(ze::Pool pool);
HBF_ZE zeEventCreate(ze::Pool pool, const ze::EventDesc *desc, ze::Event *out);
HBF_ZE zeEventDestroy(ze::Event event);
HBF_ZE zeEventHostSignal(ze::Event event);
HBF_ZE zeEventHostReset(ze::Event event);
HBF_ZE zeEventQueryStatus(ze::Event event);
HBF_ZE zeEventHostSynchronize(ze::Event event, uint64_t timeout);
HBF_ZE zeCommandListCreateImmediate(ze::Context context, ze::Device device, const ze::QueueDesc *desc, ze::List *out);
HBF_ZE zeCommandListDestroy(ze::List list);
HBF_ZE zeCommandListAppendBarrier(ze::List list, ze::Event signal, uint32_t count, ze::Event *waits);
HBF_ZE zeCommandListAppendMemoryCopy(ze::List list, void *to, const void *from, size_t size, ze::Event signal,
                                     uint32_t count, ze::Event *waits);
HBF_ZE zeCommandListAppendMemoryFill(ze::List list, void *to, const void *pattern, size_t pattern_size, size_t size,
                                     ze::Event signal, uint32_t count, ze::Event *waits);
HBF_ZE zeCommandListAppendSignalEvent(ze::List list, ze::Event event);
HBF_ZE zeCommandListAppendWaitOnEvents(ze::List list, uint32_t count, ze::Event *waits);
HBF_ZE zeCommandListAppendEventReset(ze::List list, ze::Event event);
HBF_ZE zeModuleCreate(ze::Context context, ze::Device device, const ze::ModuleDesc *desc, ze::Module *out,
                      ze::BuildLog *log);
HBF_ZE zeModuleDestroy(ze::Module module);
HBF_ZE zeModuleGetKernelNames(ze::Module module, uint32_t *count, const char **out);
HBF_ZE zeModuleBuildLogDestroy(ze::BuildLog log);
HBF_ZE zeModuleBuildLogGetString(ze::BuildLog log, size_t *size, char *out);
HBF_ZE zeKernelCreate(ze::Module module, const ze::KernelDesc *desc, ze::Kernel *out);
HBF_ZE zeKernelDestroy(ze::Kernel kernel);
HBF_ZE zeKernelSetGroupSize(ze::Kernel kernel, uint32_t x, uint32_t y, uint32_t z);
HBF_ZE zeKernelSetArgumentValue(ze::Kernel kernel, uint32_t index, size_t size, const void *value);
HBF_ZE zeKernelGetProperties(ze::Kernel kernel, ze::KernelProperties *out);
HBF_ZE zeKernelSuggestMaxCooperativeGroupCount(ze::Kernel kernel, uint32_t *out);
HBF_ZE zeKernelGetName(ze::Kernel kernel, size_t *size, char *out);
HBF_ZE zeCommandListAppendLaunchKernel(ze::List list, ze::Kernel kernel, const ze::GroupCount *groups, ze::Event signal,
                                       uint32_t count, ze::Event *waits);
HBF_ZE zesDeviceEnumMemoryModules(ze::Device device, uint32_t *count, ze::SysMemory *out);
HBF_ZE zesMemoryGetState(ze::SysMemory memory, ze::SysMemState *out);
HBF_ZE zesDeviceEnumRasErrorSets(ze::Device device, uint32_t *count, ze::SysRas *out);
HBF_ZE zesRasGetProperties(ze::SysRas set, ze::SysRasProperties *out);
HBF_ZE zesRasGetState(ze::SysRas set, uint8_t clear, ze::SysRasState *out);
HBF_ZE zesDeviceEnumTemperatureSensors(ze::Device device, uint32_t *count, ze::SysTemperature *out);
HBF_ZE zesTemperatureGetProperties(ze::SysTemperature sensor, ze::SysTempProperties *out);
HBF_ZE zesTemperatureGetState(ze::SysTemperature sensor, double *out);
HBF_ZE zesDevicePciGetState(ze::Device device, ze::SysPciState *out);
HBF_ZE zesDevicePciGetStats(ze::Device device, ze::SysPciStats *out);
