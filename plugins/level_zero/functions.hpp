// SPDX-License-Identifier: Apache-2.0
// The names of library.hpp, as lists.
#pragma once

#define HBF_ZE_REQUIRED(X)                                                                                                  \
    X(zeInit)                                                                                                               \
    X(zeDriverGet)                                                                                                          \
    X(zeDriverGetApiVersion)                                                                                                \
    X(zeDriverGetProperties)                                                                                                \
    X(zeDeviceGet)                                                                                                          \
    X(zeDeviceGetProperties)                                                                                                \
    X(zeDeviceGetComputeProperties)                                                                                         \
    X(zeDeviceGetModuleProperties)                                                                                          \
    X(zeDeviceGetCommandQueueGroupProperties)                                                                               \
    X(zeDeviceGetMemoryProperties)                                                                                          \
    X(zeDeviceGetMemoryAccessProperties)                                                                                    \
    X(zeDeviceGetStatus)                                                                                                    \
    X(zeContextCreate)                                                                                                      \
    X(zeContextDestroy)                                                                                                     \
    X(zeMemAllocDevice)                                                                                                     \
    X(zeMemAllocHost)                                                                                                       \
    X(zeMemAllocShared)                                                                                                     \
    X(zeMemFree)                                                                                                            \
    X(zeMemGetAllocProperties)                                                                                              \
    X(zeCommandListCreateImmediate)                                                                                         \
    X(zeCommandListDestroy)                                                                                                 \
    X(zeCommandListAppendBarrier)                                                                                           \
    X(zeCommandListAppendMemoryCopy)                                                                                        \
    X(zeCommandListAppendMemoryFill)                                                                                        \
    X(zeCommandListAppendLaunchKernel)                                                                                      \
    X(zeEventPoolCreate)                                                                                                    \
    X(zeEventPoolDestroy)                                                                                                   \
    X(zeEventCreate)                                                                                                        \
    X(zeEventDestroy)                                                                                                       \
    X(zeEventHostReset)                                                                                                     \
    X(zeEventQueryStatus)                                                                                                   \
    X(zeEventHostSynchronize)                                                                                               \
    X(zeModuleCreate)                                                                                                       \
    X(zeModuleDestroy)                                                                                                      \
    X(zeModuleBuildLogGetString)                                                                                            \
    X(zeModuleBuildLogDestroy)                                                                                              \
    X(zeKernelCreate)                                                                                                       \
    X(zeKernelDestroy)                                                                                                      \
    X(zeKernelSetGroupSize)                                                                                                 \
    X(zeKernelSetArgumentValue)                                                                                             \
    X(zeKernelGetProperties)

#define HBF_ZE_OPTIONAL(X)                                                                                                  \
    X(zeDevicePciGetPropertiesExt)                                                                                          \
    X(zeKernelSuggestMaxCooperativeGroupCount)                                                                              \
    X(zesDeviceEnumMemoryModules)                                                                                           \
    X(zesMemoryGetState)                                                                                                    \
    X(zesDeviceEnumRasErrorSets)                                                                                            \
    X(zesRasGetProperties)                                                                                                  \
    X(zesRasGetState)                                                                                                       \
    X(zesDeviceEnumTemperatureSensors)                                                                                      \
    X(zesTemperatureGetProperties)                                                                                          \
    X(zesTemperatureGetState)                                                                                               \
    X(zesDevicePciGetState)                                                                                                 \
    X(zesDevicePciGetStats)
