// SPDX-License-Identifier: Apache-2.0
// The CUDA driver API as NVIDIA documents it ("CUDA Driver API", release 13.0; the older forms from the releases that the
// versions in functions.inc name), declared here because no header of the vendor is needed to build. Where cuda.h is present
// tests/abi_check.cpp compares every prototype, size and number with it. Handles are the emulator's own objects.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hbf::emulated::cuda {

struct Context;
struct Stream;
struct Event;
struct Module;
struct Function;
struct Pool;

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = Context *;
using CUstream = Stream *;
using CUevent = Event *;
using CUmodule = Module *;
using CUfunction = Function *;
using CUlibrary = Module *; // a library is a module of every context here: each device runs the same twins
using CUkernel = Function *;
using CUmemoryPool = Pool *;
using CUmemGenericAllocationHandle = unsigned long long;
using CUhostFn = void (*)(void *data);
using CUstreamCallback = void (*)(CUstream stream, CUresult status, void *data);
using CUoccupancyB2DSize = size_t (*)(int block_size);

enum Code : CUresult {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    DEINITIALIZED = 4,
    STUB_LIBRARY = 34,
    DEVICE_UNAVAILABLE = 46,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    MAP_FAILED = 205,
    UNMAP_FAILED = 206,
    NO_BINARY_FOR_GPU = 209,
    ECC_UNCORRECTABLE = 214,
    UNSUPPORTED_LIMIT = 215,
    PEER_ACCESS_UNSUPPORTED = 217,
    INVALID_PTX = 218,
    NVLINK_UNCORRECTABLE = 220,
    UNSUPPORTED_PTX_VERSION = 222,
    CONTAINED = 226,
    OPERATING_SYSTEM = 304,
    INVALID_HANDLE = 400,
    ILLEGAL_STATE = 401,
    NOT_FOUND = 500,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    LAUNCH_OUT_OF_RESOURCES = 701,
    LAUNCH_TIMEOUT = 702,
    PEER_ACCESS_ALREADY_ENABLED = 704,
    PEER_ACCESS_NOT_ENABLED = 705,
    PRIMARY_CONTEXT_ACTIVE = 708,
    CONTEXT_IS_DESTROYED = 709,
    HOST_MEMORY_ALREADY_REGISTERED = 712,
    HOST_MEMORY_NOT_REGISTERED = 713,
    LAUNCH_FAILED = 719,
    NOT_PERMITTED = 800,
    NOT_SUPPORTED = 801,
    SYSTEM_NOT_READY = 802,
    SYSTEM_DRIVER_MISMATCH = 803,
    COMPAT_NOT_SUPPORTED_ON_DEVICE = 804,
    UNKNOWN = 999,
};

struct CUuuid {
    char bytes[16];
};
struct CUmemLocation {
    int type;
    int id;
};
enum LocationType : int {
    LOCATION_INVALID = 0,
    LOCATION_DEVICE = 1,
    LOCATION_HOST = 2,
    LOCATION_HOST_NUMA = 3,
    LOCATION_HOST_NUMA_CURRENT = 4
};
struct CUmemAllocationProp {
    int type; // 1: pinned, the only one
    int requested_handle_types;
    CUmemLocation location;
    void *win32_metadata;
    struct {
        unsigned char compression_type;
        unsigned char gpu_direct_rdma_capable;
        unsigned short usage;
        unsigned char reserved[4];
    } flags;
};
struct CUmemAccessDesc {
    CUmemLocation location;
    int flags; // 0: none, 1: read, 3: read and write
};
struct CUmemcpyAttributes {
    int source_access_order; // SourceOrder
    CUmemLocation source_hint, destination_hint;
    unsigned int flags;
};
enum SourceOrder : int { ORDER_STREAM = 1, ORDER_DURING_API_CALL = 2, ORDER_ANY = 3 };
struct CUmemPoolProps {
    int allocation_type, handle_types;
    CUmemLocation location;
    void *win32_attributes;
    size_t max_size;
    unsigned short usage;
    unsigned char reserved[54];
};
struct CUaccessPolicyWindow {
    void *base;
    size_t bytes;
    float hit_ratio;
    int hit_property, miss_property; // 0: normal, 1: streaming, 2: persisting
};
union CUstreamAttrValue { // what of it is used here
    char pad[64];
    CUaccessPolicyWindow window;
    int priority;
    int synchronization_policy;
};
struct CUlaunchAttribute {
    int id;
    char pad[4];
    CUstreamAttrValue value;
};
struct CUlaunchConfig {
    unsigned int grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
    CUstream stream;
    CUlaunchAttribute *attributes;
    unsigned int attribute_count;
};
union CUstreamBatchMemOpParams {
    int operation; // 1: wait 32, 2: write 32, 3: flush remote writes, 4: wait 64, 5: write 64, 6: barrier
    struct {
        int operation;
        CUdeviceptr address;
        uint64_t value;
        unsigned int flags;
        CUdeviceptr alias;
    } value;
    uint64_t pad[6];
};
struct CUipcMemHandle {
    char reserved[64];
};
struct CUctxCreateParams {
    void *affinity;
    int affinity_count;
    void *cig;
};

// Flags and attributes that the emulator looks at, by the numbers of the reference's enumerations.
enum : unsigned int {
    CTX_SCHED_MASK = 0x07,
    CTX_FLAGS_MASK = 0xff,
    STREAM_NON_BLOCKING = 1,
    EVENT_BLOCKING_SYNC = 1,
    EVENT_DISABLE_TIMING = 2,
    EVENT_INTERPROCESS = 4,
    HOSTALLOC_PORTABLE = 1,
    HOSTALLOC_DEVICEMAP = 2,
    HOSTALLOC_WRITECOMBINED = 4,
    HOSTREGISTER_PORTABLE = 1,
    HOSTREGISTER_DEVICEMAP = 2,
    HOSTREGISTER_IOMEMORY = 4,
    HOSTREGISTER_READ_ONLY = 8,
    ATTACH_GLOBAL = 1,
    ATTACH_HOST = 2,
    WAIT_VALUE_GEQ = 0,
    WAIT_VALUE_EQ = 1,
    WAIT_VALUE_AND = 2,
    WAIT_VALUE_NOR = 3,
    WAIT_VALUE_FLUSH = 1u << 30,
    PROC_PER_THREAD_STREAM = 2,
};
enum DeviceAttribute : int {
    MAX_THREADS_PER_BLOCK = 1,
    MAX_BLOCK_DIM_X = 2,
    MAX_BLOCK_DIM_Y = 3,
    MAX_BLOCK_DIM_Z = 4,
    MAX_GRID_DIM_X = 5,
    MAX_GRID_DIM_Y = 6,
    MAX_GRID_DIM_Z = 7,
    MAX_SHARED_MEMORY_PER_BLOCK = 8,
    TOTAL_CONSTANT_MEMORY = 9,
    WARP_SIZE = 10,
    CLOCK_RATE = 13,
    GPU_OVERLAP = 15,
    MULTIPROCESSOR_COUNT = 16,
    INTEGRATED = 18,
    CAN_MAP_HOST_MEMORY = 19,
    COMPUTE_MODE = 20,
    CONCURRENT_KERNELS = 31,
    ECC_ENABLED = 32,
    PCI_BUS_ID = 33,
    PCI_DEVICE_ID = 34,
    L2_CACHE_SIZE = 38,
    MAX_THREADS_PER_MULTIPROCESSOR = 39,
    ASYNC_ENGINE_COUNT = 40,
    UNIFIED_ADDRESSING = 41,
    PCI_DOMAIN_ID = 50,
    COMPUTE_CAPABILITY_MAJOR = 75,
    COMPUTE_CAPABILITY_MINOR = 76,
    STREAM_PRIORITIES_SUPPORTED = 78,
    MANAGED_MEMORY = 83,
    HOST_NATIVE_ATOMIC_SUPPORTED = 86,
    PAGEABLE_MEMORY_ACCESS = 88,
    CONCURRENT_MANAGED_ACCESS = 89,
    CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM = 91,
    CAN_FLUSH_REMOTE_WRITES = 98,
    HOST_REGISTER_SUPPORTED = 99,
    PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES = 100,
    DIRECT_MANAGED_MEM_ACCESS_FROM_HOST = 101,
    VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 102,
    HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED = 103,
    MAX_PERSISTING_L2_CACHE_SIZE = 108,
    MAX_ACCESS_POLICY_WINDOW_SIZE = 109,
    READ_ONLY_HOST_REGISTER_SUPPORTED = 113,
    MEMORY_POOLS_SUPPORTED = 115,
    GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS = 117,
    GPU_DIRECT_RDMA_WRITES_ORDERING = 118,
    CAN_USE_64_BIT_STREAM_MEM_OPS = 122,
    CAN_USE_STREAM_WAIT_VALUE_NOR = 123,
    NUMA_CONFIG = 130,
    NUMA_ID = 131,
    HOST_NUMA_ID = 134,
    GPU_PCI_DEVICE_ID = 139,
};
enum PointerAttribute : int {
    POINTER_CONTEXT = 1,
    POINTER_MEMORY_TYPE = 2,
    POINTER_DEVICE_POINTER = 3,
    POINTER_HOST_POINTER = 4,
    POINTER_SYNC_MEMOPS = 6,
    POINTER_BUFFER_ID = 7,
    POINTER_IS_MANAGED = 8,
    POINTER_DEVICE_ORDINAL = 9,
    POINTER_IS_LEGACY_CUDA_IPC_CAPABLE = 10,
    POINTER_RANGE_START_ADDR = 11,
    POINTER_RANGE_SIZE = 12,
    POINTER_MAPPED = 13,
    POINTER_ALLOWED_HANDLE_TYPES = 14,
    POINTER_ACCESS_FLAGS = 16,
};
enum FunctionAttribute : int {
    FUNC_MAX_THREADS_PER_BLOCK = 0,
    FUNC_SHARED_SIZE_BYTES = 1,
    FUNC_CONST_SIZE_BYTES = 2,
    FUNC_LOCAL_SIZE_BYTES = 3,
    FUNC_NUM_REGS = 4,
    FUNC_PTX_VERSION = 5,
    FUNC_BINARY_VERSION = 6,
    FUNC_CACHE_MODE_CA = 7,
    FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
};
enum Limit : int {
    LIMIT_STACK_SIZE = 0,
    LIMIT_PRINTF_FIFO_SIZE = 1,
    LIMIT_MALLOC_HEAP_SIZE = 2,
    LIMIT_MAX_L2_FETCH_GRANULARITY = 5,
    LIMIT_PERSISTING_L2_CACHE_SIZE = 6
};
enum P2PAttribute : int {
    P2P_PERFORMANCE_RANK = 1,
    P2P_ACCESS_SUPPORTED = 2,
    P2P_NATIVE_ATOMIC_SUPPORTED = 3,
    P2P_ARRAY_ACCESS_SUPPORTED = 4,
    P2P_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED = 5
};
enum QueryResult : int { QUERY_SUCCESS = 0, QUERY_SYMBOL_NOT_FOUND = 1, QUERY_VERSION_NOT_SUFFICIENT = 2 };
enum StreamAttribute : int { STREAM_ACCESS_POLICY_WINDOW = 1, STREAM_SYNCHRONIZATION_POLICY = 3, STREAM_PRIORITY = 8 };

} // namespace hbf::emulated::cuda
