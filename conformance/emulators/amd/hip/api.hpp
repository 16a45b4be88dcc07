// SPDX-License-Identifier: Apache-2.0
// HIP as AMD's header hip_runtime_api.h of ROCm 5.2 and the release notes of 6.0 to 6.3 describe it, declared here because
// no header of the vendor is needed to build. Where that header is present tests/abi_check.cpp compares every prototype,
// size and number with it. Streams and events are the model's own objects behind names of HIP's.
#pragma once

#include <cstddef>
#include <cstdint>

#define HBF_EXPORTED __attribute__((visibility("default")))

namespace hbf::emulated::hip {

struct StreamHandle;
struct EventHandle;
struct Module;
struct Function;
struct Program;

using hipError_t = int;
using hiprtcResult = int;
using hipDevice_t = int;
using hipDeviceptr_t = void *;
using hipStream_t = StreamHandle *;
using hipEvent_t = EventHandle *;
using hipModule_t = Module *;
using hipFunction_t = Function *;
using hiprtcProgram = Program *;
using hipHostFn_t = void (*)(void *data);
using hipStreamCallback_t = void (*)(hipStream_t stream, hipError_t status, void *data);

// hipError_t, by the names that hipGetErrorName gives: X(name, value, description).
#define HBF_HIP_CODES(X)                                                                                                    \
    X(hipSuccess, 0, "no error")                                                                                            \
    X(hipErrorInvalidValue, 1, "invalid argument")                                                                          \
    X(hipErrorOutOfMemory, 2, "out of memory")                                                                              \
    X(hipErrorNotInitialized, 3, "initialization error")                                                                    \
    X(hipErrorDeinitialized, 4, "driver shutting down")                                                                     \
    X(hipErrorInvalidConfiguration, 9, "invalid configuration argument")                                                    \
    X(hipErrorInvalidDevicePointer, 17, "invalid device pointer")                                                           \
    X(hipErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                                              \
    X(hipErrorInsufficientDriver, 35, "driver version is insufficient for runtime version")                                 \
    X(hipErrorNoDevice, 100, "no ROCm-capable device is detected")                                                          \
    X(hipErrorInvalidDevice, 101, "invalid device ordinal")                                                                 \
    X(hipErrorInvalidImage, 200, "device kernel image is invalid")                                                          \
    X(hipErrorInvalidContext, 201, "invalid device context")                                                                \
    X(hipErrorMapFailed, 205, "mapping of buffer object failed")                                                            \
    X(hipErrorUnmapFailed, 206, "unmapping of buffer object failed")                                                        \
    X(hipErrorNoBinaryForGpu, 209, "no kernel image is available for execution on the device")                              \
    X(hipErrorECCNotCorrectable, 214, "uncorrectable ECC error encountered")                                                \
    X(hipErrorPeerAccessUnsupported, 217, "peer access is not supported between these two devices")                         \
    X(hipErrorFileNotFound, 301, "file not found")                                                                          \
    X(hipErrorOperatingSystem, 304, "OS call failed or operation not supported on this OS")                                 \
    X(hipErrorInvalidHandle, 400, "invalid resource handle")                                                                \
    X(hipErrorIllegalState, 401, "the operation cannot be performed in the present state")                                  \
    X(hipErrorNotFound, 500, "named symbol not found")                                                                      \
    X(hipErrorNotReady, 600, "device not ready")                                                                            \
    X(hipErrorIllegalAddress, 700, "an illegal memory access was encountered")                                              \
    X(hipErrorLaunchOutOfResources, 701, "too many resources requested for launch")                                         \
    X(hipErrorLaunchTimeOut, 702, "the launch timed out and was terminated")                                                \
    X(hipErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                                              \
    X(hipErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")                                                \
    X(hipErrorContextIsDestroyed, 709, "context is destroyed")                                                              \
    X(hipErrorHostMemoryAlreadyRegistered, 712, "part or all of the requested memory range is already mapped")              \
    X(hipErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region")                    \
    X(hipErrorLaunchFailure, 719, "unspecified launch failure")                                                             \
    X(hipErrorNotSupported, 801, "operation not supported")                                                                 \
    X(hipErrorUnknown, 999, "unknown error")                                                                                \
    X(hipErrorRuntimeMemory, 1052, "runtime memory call returned error")                                                    \
    X(hipErrorRuntimeOther, 1053, "runtime call other than memory returned error")

enum Code : hipError_t {
#define X(name, value, text) name = value,
    HBF_HIP_CODES(X)
#undef X
};

struct hipUUID {
    char bytes[16];
};
struct hipPointerAttribute_t {
    int type; // MemoryType5 or MemoryType6: the numbers changed their meaning
    int device;
    void *device_pointer;
    void *host_pointer;
    int managed;
    unsigned int allocation_flags;
};
enum MemoryType5 : int { HOST5 = 0, DEVICE5 = 1, UNIFIED5 = 3 };
enum MemoryType6 : int { UNREGISTERED6 = 0, HOST6 = 1, DEVICE6 = 2, MANAGED6 = 3 };

enum : unsigned int {
    hipStreamNonBlocking = 1,
    hipEventBlockingSync = 1,
    hipEventDisableTiming = 2,
    hipEventInterprocess = 4,
    hipEventDisableSystemFence = 0x20000000,
    hipEventReleaseToDevice = 0x40000000,
    hipEventReleaseToSystem = 0x80000000,
    hipHostMallocPortable = 1,
    hipHostMallocMapped = 2,
    hipHostMallocWriteCombined = 4,
    hipHostMallocNumaUser = 0x20000000,
    hipHostMallocCoherent = 0x40000000,
    hipHostMallocNonCoherent = 0x80000000,
    hipHostRegisterPortable = 1,
    hipHostRegisterMapped = 2,
    hipHostRegisterIoMemory = 4,
    hipHostRegisterReadOnly = 8,
    hipDeviceMallocDefault = 0,
    hipDeviceMallocFinegrained = 1,
    hipMallocSignalMemory = 2,
    hipDeviceMallocUncached = 3,
    hipDeviceMallocContiguous = 4,
    hipMemAttachGlobal = 1,
    hipMemAttachHost = 2,
};
enum Kind : int {
    hipMemcpyHostToHost,
    hipMemcpyHostToDevice,
    hipMemcpyDeviceToHost,
    hipMemcpyDeviceToDevice,
    hipMemcpyDefault,
    hipMemcpyDeviceToDeviceNoCU = 1024
};
enum Advice : int { SET_COARSE_GRAIN = 100, UNSET_COARSE_GRAIN = 101 };
enum RangeAttribute : int {
    RANGE_READ_MOSTLY = 1,
    RANGE_PREFERRED_LOCATION,
    RANGE_ACCESSED_BY,
    RANGE_LAST_PREFETCH,
    RANGE_COHERENCY_MODE = 100
};
enum CoherencyMode : int { FINE_GRAIN = 0, COARSE_GRAIN = 1, INDETERMINATE = 2 };

// hipDeviceAttribute_t, the same numbers in 5.2 and 6.3.
enum Attribute : int {
    ECC_ENABLED = 0,
    ASYNC_ENGINE_COUNT = 2,
    CAN_MAP_HOST_MEMORY = 3,
    CAN_USE_HOST_POINTER = 4,
    CLOCK_RATE = 5,
    CONCURRENT_KERNELS = 8,
    CONCURRENT_MANAGED_ACCESS = 9,
    DIRECT_MANAGED_FROM_HOST = 13,
    HOST_NATIVE_ATOMIC = 15,
    INTEGRATED = 16,
    L2_CACHE_SIZE = 19,
    COMPUTE_CAPABILITY_MAJOR = 23,
    MANAGED_MEMORY = 24,
    MAX_BLOCK_DIM_X = 26,
    MAX_BLOCK_DIM_Y = 27,
    MAX_BLOCK_DIM_Z = 28,
    MAX_GRID_DIM_X = 29,
    MAX_GRID_DIM_Y = 30,
    MAX_GRID_DIM_Z = 31,
    MAX_THREADS_PER_BLOCK = 56,
    MAX_THREADS_PER_MULTIPROCESSOR = 57,
    MEMORY_BUS_WIDTH = 59,
    MEMORY_CLOCK_RATE = 60,
    COMPUTE_CAPABILITY_MINOR = 61,
    MULTIPROCESSOR_COUNT = 63,
    PAGEABLE_MEMORY_ACCESS = 65,
    PAGEABLE_USES_HOST_PAGE_TABLES = 66,
    PCI_BUS_ID = 67,
    PCI_DEVICE_ID = 68,
    PCI_DOMAIN_ID = 69,
    MAX_SHARED_MEMORY_PER_BLOCK = 74,
    TOTAL_GLOBAL_MEMORY = 84,
    UNIFIED_ADDRESSING = 85,
    WARP_SIZE = 87,
    MEMORY_POOLS_SUPPORTED = 88,
    VIRTUAL_MEMORY_SUPPORTED = 89,
    HOST_REGISTER_SUPPORTED = 90,
    HDP_MEM_FLUSH_CONTROL = 10005,
    HDP_REG_FLUSH_CONTROL = 10006,
    IS_LARGE_BAR = 10011,
    CAN_USE_STREAM_WAIT_VALUE = 10013,
    PHYSICAL_MULTIPROCESSOR_COUNT = 10015,
    FINE_GRAIN_SUPPORT = 10016,
};
enum FunctionAttribute : int {
    FUNC_MAX_THREADS = 0,
    FUNC_SHARED_SIZE,
    FUNC_CONST_SIZE,
    FUNC_LOCAL_SIZE,
    FUNC_NUM_REGS,
    FUNC_PTX_VERSION,
    FUNC_BINARY_VERSION,
    FUNC_CACHE_MODE,
    FUNC_MAX_DYNAMIC_SHARED,
    FUNC_CARVEOUT
};
enum PeerAttribute : int { PEER_PERFORMANCE_RANK = 0, PEER_ACCESS_SUPPORTED, PEER_NATIVE_ATOMIC, PEER_ARRAY_ACCESS };
enum PointerAttribute : int {
    POINTER_MEMORY_TYPE = 2,
    POINTER_DEVICE_POINTER,
    POINTER_HOST_POINTER,
    POINTER_BUFFER_ID = 7,
    POINTER_IS_MANAGED,
    POINTER_DEVICE_ORDINAL,
    POINTER_RANGE_START = 11,
    POINTER_RANGE_SIZE
};
enum LinkType : uint32_t { LINK_PCIE = 2, LINK_XGMI = 4 }; // hsa_amd_link_info_type_t
enum RtcCode : hiprtcResult {
    RTC_SUCCESS = 0,
    RTC_OUT_OF_MEMORY = 1,
    RTC_CREATION_FAILURE = 2,
    RTC_INVALID_INPUT = 3,
    RTC_INVALID_PROGRAM = 4,
    RTC_INVALID_OPTION = 5,
    RTC_COMPILATION = 6
};

} // namespace hbf::emulated::hip
