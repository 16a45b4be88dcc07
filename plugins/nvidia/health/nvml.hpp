// SPDX-License-Identifier: Apache-2.0
// What this plugin calls of NVML, libnvidia-ml.so.1: own declarations, opened at run time. Where it is missing, the device
// works and tells nothing of its health.
#pragma once

#include <cstdint>

namespace hbf::nvidia::nvml {

using Result = int; // 0: success
using Device = struct DeviceTag *;

inline constexpr int error_corrected = 0, error_uncorrected = 1;
inline constexpr int since_reset = 0, ever = 1; // of ECC counters: volatile, aggregate
inline constexpr int nvlink_replay = 0, nvlink_recovery = 1, nvlink_crc_flit = 2;
inline constexpr int temperature_gpu = 0;
inline constexpr int clock_sm = 1, clock_memory = 2;
inline constexpr unsigned most_links = 18;

// X(name with its version, parameters). Each is optional: what a library or a device lacks is not told.
#define HBF_NVML_FUNCTIONS(X)                                                                                               \
    X(DeviceGetCount_v2, (unsigned *count))                                                                                 \
    X(DeviceGetHandleByIndex_v2, (unsigned index, Device *device))                                                          \
    X(DeviceGetUUID, (Device device, char *text, unsigned size))                                                            \
    X(DeviceGetHandleByPciBusId_v2, (const char *pci, Device *device))                                                      \
    X(DeviceGetMigMode, (Device device, unsigned *current, unsigned *pending))                                              \
    X(DeviceGetTotalEccErrors, (Device device, int type, int counter, unsigned long long *count))                           \
    X(DeviceGetRemappedRows,                                                                                                \
      (Device device, unsigned *corrected, unsigned *uncorrected, unsigned *pending, unsigned *failed))                     \
    X(DeviceGetRetiredPagesPendingStatus, (Device device, int *pending))                                                    \
    X(DeviceGetNvLinkState, (Device device, unsigned link, int *active))                                                    \
    X(DeviceGetNvLinkErrorCounter, (Device device, unsigned link, int counter, unsigned long long *value))                  \
    X(DeviceGetPcieReplayCounter, (Device device, unsigned *value))                                                         \
    X(DeviceGetCurrPcieLinkGeneration, (Device device, unsigned *generation))                                               \
    X(DeviceGetMaxPcieLinkGeneration, (Device device, unsigned *generation))                                                \
    X(DeviceGetCurrPcieLinkWidth, (Device device, unsigned *lanes))                                                         \
    X(DeviceGetMaxPcieLinkWidth, (Device device, unsigned *lanes))                                                          \
    X(DeviceGetTemperature, (Device device, int sensor, unsigned *celsius))                                                 \
    X(DeviceGetClockInfo, (Device device, int clock, unsigned *mhz))                                                        \
    X(DeviceGetCurrentClocksThrottleReasons, (Device device, unsigned long long *reasons))

struct Functions {
    Result (*Init_v2)() = nullptr;
    const char *(*ErrorString)(Result code) = nullptr;
    Result (*SystemGetDriverVersion)(char *text, unsigned size) = nullptr;
// NOLINTNEXTLINE(bugprone-macro-parentheses): a member's name and a list of parameters cannot stand in them
#define HBF_NVML_MEMBER(name, parameters) Result(*name) parameters = nullptr;
    HBF_NVML_FUNCTIONS(HBF_NVML_MEMBER)
#undef HBF_NVML_MEMBER
};

} // namespace hbf::nvidia::nvml
