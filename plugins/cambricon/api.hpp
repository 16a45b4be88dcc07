// SPDX-License-Identifier: Apache-2.0
// What this plugin calls of Cambricon's libraries, in our own words: CNRT (the runtime), CNDrv (the driver interface below
// it), CNDev (management). The same from CNRT 6.0 on; what changed its layout or number between versions is not used.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hbf::cambricon {

struct CnrtQueueObject;
struct CnrtNotifierObject;
using CnrtQueue = CnrtQueueObject *;       // cnrtQueue_t, and CNqueue
using CnrtNotifier = CnrtNotifierObject *; // cnrtNotifier_t
using CnDevice = uint64_t;                 // CNdev

// cnrtRet_t and CNresult, which share their numbers where both have one.
namespace code {
inline constexpr int success = 0, not_ready = 1, initialization = 100002, deinitialized = 100003, no_device = 100004,
                     device_invalid = 100005, arguments = 100006, system = 100007, system_not_ready = 100008,
                     driver_mismatch = 100009, system_no_memory = 100010, compatibility = 100013, bad_handle = 100014,
                     ecc_uncorrectable = 100016, not_supported = 100050, not_permitted = 100051, timeout = 100052,
                     out_of_resources = 100053, no_memory = 100100, over_process_limit = 100101, device = 632006,
                     busy = 632014, driver_function_missing = 632020;
}

// cnrtMemTransDir_t: the runtime finds out by itself what lies where. Whoever says it wrongly gets wrong bytes.
inline constexpr int memcpy_no_direction = 5;
inline constexpr unsigned notifier_without_timing = 2; // CNRT_NOTIFIER_DISABLE_TIMING_SW, in 6.0 DISABLE_TIMING

// cnrtDeviceAttr_t; only such whose number is the same in all 6.x.
namespace attribute {
inline constexpr int cluster_count = 0x205, isa_version = 0x20a, max_l2_cache = 0x301, ecc_enabled = 0x401,
                     memory_clock = 0x403, memory_bus_width = 0x404;
}

using HostFunction = void (*)(void *);

struct Cnrt {
    int (*GetLibVersion)(int *major, int *minor, int *patch) = nullptr;
    int (*GetDeviceCount)(unsigned *count) = nullptr;
    int (*SetDevice)(int ordinal) = nullptr; // of the calling thread
    int (*GetDevice)(int *ordinal) = nullptr;
    int (*DeviceGetAttribute)(int *value, int attribute, int ordinal) = nullptr;
    int (*DeviceGetPCIBusId)(char *text, int size, int ordinal) = nullptr;
    int (*Malloc)(void **at, size_t bytes) = nullptr;
    int (*Free)(void *at) = nullptr;
    int (*HostMalloc)(void **at, size_t bytes) = nullptr;
    int (*FreeHost)(void *at) = nullptr;
    int (*MemGetInfo)(size_t *free, size_t *total) = nullptr;
    int (*MemsetAsync)(void *at, int value, size_t bytes, CnrtQueue queue) = nullptr;
    int (*QueueCreate)(CnrtQueue *queue) = nullptr;
    int (*QueueDestroy)(CnrtQueue queue) = nullptr;
    int (*QueueQuery)(CnrtQueue queue) = nullptr;
    int (*QueueSync)(CnrtQueue queue) = nullptr;
    int (*QueueWaitNotifier)(CnrtNotifier notifier, CnrtQueue queue, unsigned flag) = nullptr;
    int (*NotifierCreate)(CnrtNotifier *notifier) = nullptr;
    int (*NotifierDestroy)(CnrtNotifier notifier) = nullptr;
    int (*PlaceNotifier)(CnrtNotifier notifier, CnrtQueue queue) = nullptr;
    int (*QueryNotifier)(CnrtNotifier notifier) = nullptr;
    int (*InvokeHostFunc)(CnrtQueue queue, HostFunction function, void *argument) = nullptr;
    const char *(*GetErrorStr)(int code) = nullptr;
    // The first there is of cnrtMemcpyAsync_V3, _V2 and the plain one, which take the same.
    int (*MemcpyAsync)(void *dst, void *src, size_t bytes, CnrtQueue queue, int direction) = nullptr;
    // Not in every version: NULL where missing.
    int (*NotifierCreateWithFlags)(CnrtNotifier *notifier, unsigned flags) = nullptr;
    int (*DriverGetVersion)(int *major, int *minor, int *patch) = nullptr;
    const char *(*GetErrorName)(int code) = nullptr;
};

struct Cndrv { // all may be NULL: without them a device is called by less
    int (*Init)(unsigned flags) = nullptr;
    int (*DeviceGet)(CnDevice *device, int ordinal) = nullptr;
    int (*DeviceGetName)(char *name, unsigned size, CnDevice device) = nullptr;
    int (*GetLibVersion)(int *major, int *minor, int *patch) = nullptr;
    int (*GetDriverVersion)(int *major, int *minor, int *patch) = nullptr; // of the kernel's driver
};

// CNDev writes structs whose first member says the version of their layout, and which grow: each lies at the start of a
// larger block of zeros.
struct alignas(8) CndevBlock {
    int version = 0;
    int32_t words[1023] = {}; // words[0] is the second member of a struct of ints

    uint64_t wide(size_t index) const { // the index-th of uint64_t members behind the version
        uint64_t out = 0;
        for (int half = 1; half >= 0; --half)
            out = out << 32 | static_cast<uint32_t>(words[1 + 2 * index + static_cast<size_t>(half)]);
        return out;
    }
};
static_assert(sizeof(CndevBlock) == 4096);

inline constexpr int cndev_ok = 0, cndev_unsupported_version = 3;

struct Cndev { // all may be NULL: without them there is no health
    int (*Init)(int reserved) = nullptr;
    int (*GetDeviceHandleByPciBusId)(const char *pci_address, int *device) = nullptr;
    int (*GetECCInfo)(CndevBlock *out, int device) = nullptr;
    int (*GetPcieReplayCounter)(CndevBlock *out, int device) = nullptr;
    int (*GetRemappedRows)(CndevBlock *out, int device) = nullptr;
    int (*GetTemperatureInfo)(CndevBlock *out, int device) = nullptr;
    int (*GetCurrentPCIInfo)(CndevBlock *out, int device) = nullptr;
    int (*GetCardHealthState)(CndevBlock *out, int device) = nullptr;
};

} // namespace hbf::cambricon
