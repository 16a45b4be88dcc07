// SPDX-License-Identifier: Apache-2.0
// The OpenCL loader of this machine, libOpenCL.so.1: opened at run time, never linked, never closed.
//
//     const Functions &cl = library();
//     cl.GetPlatformIDs(0, nullptr, &count);
#pragma once

#include "plugins/opencl/cl.hpp"

namespace hbf::opencl {

// Each has the type of Khronos' declaration. The loader exports all of the first list, in every version from 1.2 on.
#define HBF_OPENCL_FUNCTIONS(X)                                                                                             \
    X(GetPlatformIDs)                                                                                                       \
    X(GetPlatformInfo)                                                                                                      \
    X(GetDeviceIDs)                                                                                                         \
    X(GetDeviceInfo)                                                                                                        \
    X(GetExtensionFunctionAddressForPlatform)                                                                               \
    X(CreateContext)                                                                                                        \
    X(ReleaseContext)                                                                                                       \
    X(CreateCommandQueue)                                                                                                   \
    X(ReleaseCommandQueue)                                                                                                  \
    X(CreateBuffer)                                                                                                         \
    X(CreateSubBuffer)                                                                                                      \
    X(ReleaseMemObject)                                                                                                     \
    X(GetMemObjectInfo)                                                                                                     \
    X(EnqueueReadBuffer)                                                                                                    \
    X(EnqueueWriteBuffer)                                                                                                   \
    X(EnqueueCopyBuffer)                                                                                                    \
    X(EnqueueFillBuffer)                                                                                                    \
    X(EnqueueMapBuffer)                                                                                                     \
    X(EnqueueUnmapMemObject)                                                                                                \
    X(EnqueueMigrateMemObjects)                                                                                             \
    X(EnqueueNDRangeKernel)                                                                                                 \
    X(EnqueueMarkerWithWaitList)                                                                                            \
    X(EnqueueBarrierWithWaitList)                                                                                           \
    X(Flush)                                                                                                                \
    X(Finish)                                                                                                               \
    X(WaitForEvents)                                                                                                        \
    X(GetEventInfo)                                                                                                         \
    X(GetEventProfilingInfo)                                                                                                \
    X(CreateUserEvent)                                                                                                      \
    X(SetUserEventStatus)                                                                                                   \
    X(SetEventCallback)                                                                                                     \
    X(RetainEvent)                                                                                                          \
    X(ReleaseEvent)                                                                                                         \
    X(CreateProgramWithSource)                                                                                              \
    X(CreateProgramWithBinary)                                                                                              \
    X(BuildProgram)                                                                                                         \
    X(GetProgramInfo)                                                                                                       \
    X(GetProgramBuildInfo)                                                                                                  \
    X(ReleaseProgram)                                                                                                       \
    X(CreateKernel)                                                                                                         \
    X(ReleaseKernel)                                                                                                        \
    X(GetKernelInfo)                                                                                                        \
    X(GetKernelWorkGroupInfo)                                                                                               \
    X(SetKernelArg)

// Newer than 1.2: NULL where the loader has none. Where it has one it may still lead to a platform without: call these only
// after the *device* has said a version, or a capability, that brings them.
#define HBF_OPENCL_NEWER_FUNCTIONS(X)                                                                                       \
    X(CreateCommandQueueWithProperties) /* 2.0, as the others up to the next note */                                        \
    X(SVMAlloc)                                                                                                             \
    X(SVMFree)                                                                                                              \
    X(EnqueueSVMMemcpy)                                                                                                     \
    X(EnqueueSVMMemFill)                                                                                                    \
    X(EnqueueSVMMap)                                                                                                        \
    X(EnqueueSVMUnmap)                                                                                                      \
    X(SetKernelArgSVMPointer)                                                                                               \
    X(SetKernelExecInfo)                                                                                                    \
    X(CreateProgramWithIL) /* 2.1 */                                                                                        \
    X(CloneKernel)         /* 2.1 */

struct Functions {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a member's name cannot stand in them
#define HBF_OPENCL_MEMBER(name) decltype(&::cl##name) name = nullptr;
    HBF_OPENCL_FUNCTIONS(HBF_OPENCL_MEMBER)
    HBF_OPENCL_NEWER_FUNCTIONS(HBF_OPENCL_MEMBER)
#undef HBF_OPENCL_MEMBER
};

inline constexpr const char *library_name = "libOpenCL.so.1";

// [any thread] The table of the loader's functions, the same each time. Throws sdk::Failure, which a later call repeats or,
// once the library is there, does not: HBF_UNAVAILABLE "driver_absent: ..." where the file is missing or cannot be opened,
// HBF_UNSUPPORTED "driver_too_old: ..." where it lacks a function of OpenCL 1.2.
const Functions &library();

} // namespace hbf::opencl
