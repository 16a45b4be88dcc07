// SPDX-License-Identifier: Apache-2.0
// What this plugin calls of NVIDIA's driver API: own declarations, so that no header of CUDA is needed. abi_check.cpp
// compares them with cuda.h where that is.
//
// Each function is asked for by name and by the version of CUDA that brought the form declared here: the same name has had
// other parameters before or since, and a plain dlsym gives the oldest.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hbf::nvidia::cuda {

using Result = int;
using Device = int;
using Pointer = unsigned long long; // CUdeviceptr
using Handle = unsigned long long;  // CUmemGenericAllocationHandle
using Context = struct ContextTag *;
using Stream = struct StreamTag *;
using Event = struct EventTag *;
using Module = struct ModuleTag *;
using Function = struct FunctionTag *;

struct Uuid {
    char bytes[16];
};

enum LocationType : int { location_none = 0, location_device = 1 };
struct Location {
    int type;
    int id;
};

struct AllocationProp {
    int type;         // 1: pinned to its place
    int handle_types; // 0: none
    Location location;
    void *windows;
    struct {
        unsigned char compression;
        unsigned char gpu_direct_rdma;
        unsigned short usage;
        unsigned char reserved[4];
    } flags;
};
inline constexpr int allocation_pinned = 1;

struct AccessDesc {
    Location location;
    int flags;
};
inline constexpr int access_read_write = 3;

struct CopyAttributes {
    int source_order; // how sources are read with regard to the stream
    Location source_hint, destination_hint;
    unsigned flags;
};
inline constexpr int source_in_stream_order = 1; // "any" reads what an earlier kernel has not written yet

struct AccessWindow {
    void *base;
    size_t bytes;
    float hit_ratio;
    int hit, miss;
};
union StreamAttribute {
    char space[64];
    AccessWindow window;
};
inline constexpr int stream_attribute_window = 1;
inline constexpr int property_normal = 0, property_streaming = 1, property_persisting = 2;
inline constexpr int limit_persisting_l2 = 6;

inline constexpr unsigned stream_non_blocking = 1;  // does not wait for the legacy default stream
inline constexpr unsigned event_disable_timing = 2; // cheaper, and all that order needs
inline constexpr unsigned register_portable = 1, register_mapped = 2;
inline constexpr int granularity_minimum = 0;

enum Attribute : int { // CUdevice_attribute
    max_block_x = 2,
    max_block_y = 3,
    max_block_z = 4,
    max_grid_x = 5,
    max_grid_y = 6,
    max_grid_z = 7,
    shared_per_block = 8,
    multiprocessors = 16,
    compute_mode = 20,
    bus_width = 37,
    l2_bytes = 38,
    copy_engines = 40,
    unified_addressing = 41,
    major = 75,
    minor = 76,
    host_native_atomics = 86,
    pageable_access = 88,
    host_pointer_registered = 91,
    host_register = 99,
    host_page_tables = 100,
    virtual_memory = 102,
    max_persisting_l2 = 108,
    max_window = 109,
    numa_config = 130,
    numa_id = 131,
    mps = 133,
    host_numa_id = 134,
};

enum FunctionAttribute : int { max_threads_per_block = 0 };

enum : Result { // CUresult
    success = 0,
    invalid_value = 1,
    out_of_memory = 2,
    not_initialized = 3,
    deinitialized = 4,
    stub_library = 34,
    device_unavailable = 46,
    no_device = 100,
    invalid_device = 101,
    device_not_licensed = 102,
    invalid_image = 200,
    no_binary = 209,
    ecc_uncorrectable = 214,
    invalid_ptx = 218,
    nvlink_uncorrectable = 220,
    unsupported_ptx = 222,
    contained = 226,
    operating_system = 304,
    not_found = 500,
    not_ready = 600,
    illegal_address = 700,
    launch_out_of_resources = 701,
    launch_timeout = 702,
    context_destroyed = 709,
    host_already_registered = 712,
    launch_failed = 719,
    not_permitted = 800,
    not_supported = 801,
    system_not_ready = 802,
    driver_mismatch = 803,
    compat_unsupported = 804,
    mps_failed = 805,
    mps_rpc = 806,
    mps_not_ready = 807,
    mps_clients = 808,
    mps_connections = 809,
    mps_terminated = 810,
    unknown = 999,
};

// X(name, version of CUDA, parameters): a driver of CUDA 12.0 has all of these.
#define HBF_CUDA_FUNCTIONS(X)                                                                                               \
    X(Init, 2000, (unsigned flags))                                                                                         \
    X(GetErrorName, 6000, (Result code, const char **text))                                                                 \
    X(GetErrorString, 6000, (Result code, const char **text))                                                               \
    X(DeviceGetCount, 2000, (int *count))                                                                                   \
    X(DeviceGet, 2000, (Device * device, int ordinal))                                                                      \
    X(DeviceGetName, 2000, (char *name, int size, Device device))                                                           \
    X(DeviceGetUuid, 11040, (Uuid * uuid, Device device))                                                                   \
    X(DeviceTotalMem, 3020, (size_t *bytes, Device device))                                                                 \
    X(DeviceGetAttribute, 2000, (int *value, int attribute, Device device))                                                 \
    X(DeviceGetPCIBusId, 4010, (char *text, int size, Device device))                                                       \
    X(DeviceCanAccessPeer, 4000, (int *can, Device device, Device peer))                                                    \
    X(DevicePrimaryCtxRetain, 7000, (Context * context, Device device))                                                     \
    X(DevicePrimaryCtxRelease, 11000, (Device device))                                                                      \
    X(CtxPushCurrent, 4000, (Context context))                                                                              \
    X(CtxPopCurrent, 4000, (Context * context))                                                                             \
    X(CtxSetLimit, 3010, (int limit, size_t value))                                                                         \
    X(CtxGetLimit, 3010, (size_t *value, int limit))                                                                        \
    X(MemGetInfo, 3020, (size_t *free, size_t *total))                                                                      \
    X(MemAlloc, 3020, (Pointer * at, size_t bytes))                                                                         \
    X(MemFree, 3020, (Pointer at))                                                                                          \
    X(MemAddressReserve, 10020, (Pointer * at, size_t size, size_t alignment, Pointer wanted, unsigned long long flags))    \
    X(MemAddressFree, 10020, (Pointer at, size_t size))                                                                     \
    X(MemCreate, 10020, (Handle * handle, size_t size, const AllocationProp *prop, unsigned long long flags))               \
    X(MemRelease, 10020, (Handle handle))                                                                                   \
    X(MemMap, 10020, (Pointer at, size_t size, size_t offset, Handle handle, unsigned long long flags))                     \
    X(MemUnmap, 10020, (Pointer at, size_t size))                                                                           \
    X(MemSetAccess, 10020, (Pointer at, size_t size, const AccessDesc *descs, size_t count))                                \
    X(MemGetAllocationGranularity, 10020, (size_t *bytes, const AllocationProp *prop, int option))                          \
    X(MemHostRegister, 6050, (void *at, size_t bytes, unsigned flags))                                                      \
    X(MemHostUnregister, 4000, (void *at))                                                                                  \
    X(MemHostGetDevicePointer, 3020, (Pointer * at, void *host, unsigned flags))                                            \
    X(MemcpyAsync, 4000, (Pointer dst, Pointer src, size_t bytes, Stream stream))                                           \
    X(MemsetD8Async, 3020, (Pointer dst, unsigned char value, size_t count, Stream stream))                                 \
    X(MemsetD16Async, 3020, (Pointer dst, unsigned short value, size_t count, Stream stream))                               \
    X(MemsetD32Async, 3020, (Pointer dst, unsigned value, size_t count, Stream stream))                                     \
    X(StreamCreate, 2000, (Stream * stream, unsigned flags))                                                                \
    X(StreamDestroy, 4000, (Stream stream))                                                                                 \
    X(StreamQuery, 2000, (Stream stream))                                                                                   \
    X(StreamSynchronize, 2000, (Stream stream))                                                                             \
    X(StreamWaitEvent, 3020, (Stream stream, Event event, unsigned flags))                                                  \
    X(EventCreate, 2000, (Event * event, unsigned flags))                                                                   \
    X(EventRecord, 2000, (Event event, Stream stream))                                                                      \
    X(EventQuery, 2000, (Event event))                                                                                      \
    X(EventDestroy, 4000, (Event event))                                                                                    \
    X(ModuleLoadData, 2000, (Module * module, const void *image))                                                           \
    X(ModuleUnload, 2000, (Module module))                                                                                  \
    X(ModuleGetFunction, 2000, (Function * function, Module module, const char *name))                                      \
    X(FuncGetAttribute, 2020, (int *value, int attribute, Function function))                                               \
    X(LaunchKernel, 4000,                                                                                                   \
      (Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,    \
       Stream stream, void **parameters, void **extra))

// Newer, or not everywhere: NULL where the driver has none.
#define HBF_CUDA_OPTIONAL_FUNCTIONS(X)                                                                                      \
    X(MemcpyBatchAsync, 12080,                                                                                              \
      (Pointer * dsts, Pointer * srcs, size_t *sizes, size_t count, CopyAttributes *attributes, size_t *indices,            \
       size_t attribute_count, size_t *failed, Stream stream))                                                              \
    X(StreamSetAttribute, 11000, (Stream stream, int attribute, const StreamAttribute *value))                              \
    X(CtxResetPersistingL2Cache, 11000, ())

// The two that are found by dlsym.
using DriverGetVersion = Result (*)(int *version);
using GetProcAddress = Result (*)(const char *name, void **function, int version, uint64_t flags, int *found);

} // namespace hbf::nvidia::cuda
