// SPDX-License-Identifier: Apache-2.0
// The NVIDIA Management Library as its reference (API version 12) has it, as far as it is emulated: declared here, because
// no header of the vendor is needed to build.
#pragma once

#include <cstdint>

namespace hbf::emulated::nvml {

struct Device;
struct EventSet;
using nvmlReturn_t = int;
using nvmlDevice_t = Device *;
using nvmlEventSet_t = EventSet *;

enum Code : nvmlReturn_t {
    SUCCESS = 0,
    UNINITIALIZED = 1,
    INVALID_ARGUMENT = 2,
    NOT_SUPPORTED = 3,
    NO_PERMISSION = 4,
    NOT_FOUND = 6,
    INSUFFICIENT_SIZE = 7,
    DRIVER_NOT_LOADED = 9,
    TIMEOUT = 10,
    GPU_IS_LOST = 15,
    LIB_RM_VERSION_MISMATCH = 18,
    ARGUMENT_VERSION_MISMATCH = 25,
    UNKNOWN = 999,
};

struct nvmlPciInfo_t {
    char bus_id_legacy[16];
    unsigned int domain, bus, device, pci_device_id, pci_subsystem_id;
    char bus_id[32];
};
struct nvmlMemory_t {
    unsigned long long total, free, used;
};
struct nvmlMemory_v2_t {
    unsigned int version;
    unsigned long long total, reserved, free, used;
};
using nvmlBAR1Memory_t = nvmlMemory_t;
enum ValueType : int { value_double = 0, value_unsigned = 1, value_unsigned_long = 2, value_unsigned_long_long = 3 };
struct nvmlFieldValue_t {
    unsigned int field, scope;
    long long timestamp, latency_us;
    int type; // ValueType
    nvmlReturn_t result;
    union {
        double d;
        unsigned int ui;
        unsigned long ul;
        unsigned long long ull;
    } value;
};
struct nvmlEventData_t {
    nvmlDevice_t device;
    unsigned long long type, data;
    unsigned int gpu_instance, compute_instance;
};
static_assert(sizeof(nvmlPciInfo_t) == 68 && sizeof(nvmlMemory_v2_t) == 40 && sizeof(nvmlFieldValue_t) == 40 &&
              sizeof(nvmlEventData_t) == 32);

template <class T>
constexpr unsigned int version_of(unsigned int number) { // NVML_STRUCT_VERSION
    return static_cast<unsigned int>(sizeof(T)) | (number << 24);
}

} // namespace hbf::emulated::nvml
