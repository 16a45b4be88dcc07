// SPDX-License-Identifier: Apache-2.0
// Reference, "Device Queries": what a device counts of its errors, and how it is now.
#include "conformance/emulators/nvidia/nvml/health.hpp"

#include "conformance/emulators/nvidia/nvml/library.hpp"

namespace hbf::emulated::nvml {
namespace {

constexpr int corrected = 0, uncorrected = 1; // nvmlMemoryErrorType_t
constexpr int device_memory = 2;              // nvmlMemoryLocation_t

enum Clock : int { graphics = 0, sm = 1, memory = 2, video = 3 };

// nvmlClocksEventReason*: hardware slowdown, of heat.
constexpr unsigned long long idle = 0x1, hardware_slowdown = 0x8, hardware_thermal = 0x40;

nvmlReturn_t ecc(model::Device &device, int type, int counter, unsigned long long *out) {
    if (!out || (type != corrected && type != uncorrected) || counter < 0 || counter > 1) return INVALID_ARGUMENT;
    return give(out, count_of(device, type == corrected ? model::Counter::ecc_corrected : model::Counter::ecc_uncorrected));
}

nvmlReturn_t reasons(model::Device &device, unsigned long long *out) {
    return give(out, count_of(device, model::Counter::throttled) ? hardware_slowdown | hardware_thermal : idle);
}

} // namespace

uint64_t count_of(model::Device &device, model::Counter counter) {
    if (counter == model::Counter::throttled && machine().faults().on(model::Fault::throttle, device.index())) return 1;
    return device.health().get(counter);
}

bool ecc_on(model::Device &device) {
    return device.attribute(32, 1) != 0; // CU_DEVICE_ATTRIBUTE_ECC_ENABLED
}

extern "C" {

nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t handle, int *now, int *pending) {
    return of_device(Call::nvmlDeviceGetEccMode, handle, [&](model::Device &device) -> nvmlReturn_t {
        if (!now || !pending) return INVALID_ARGUMENT;
        *now = *pending = ecc_on(device) ? 1 : 0;
        return SUCCESS;
    });
}

// "Requires ECC Mode to be enabled."
nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t handle, int type, int counter, unsigned long long *out) {
    return of_device(Call::nvmlDeviceGetTotalEccErrors, handle, [&](model::Device &device) {
        return ecc_on(device) ? ecc(device, type, counter, out) : NOT_SUPPORTED;
    });
}

nvmlReturn_t nvmlDeviceGetMemoryErrorCounter(nvmlDevice_t handle, int type, int counter, int location,
                                             unsigned long long *out) {
    return of_device(Call::nvmlDeviceGetMemoryErrorCounter, handle, [&](model::Device &device) -> nvmlReturn_t {
        if (!ecc_on(device)) return NOT_SUPPORTED;
        return location == device_memory ? ecc(device, type, counter, out) : give(out, 0);
    });
}

nvmlReturn_t nvmlDeviceGetRemappedRows(nvmlDevice_t handle, unsigned int *of_corrected, unsigned int *of_uncorrected,
                                       unsigned int *pending, unsigned int *failed) {
    return of_device(Call::nvmlDeviceGetRemappedRows, handle, [&](model::Device &device) -> nvmlReturn_t {
        if (!of_corrected || !of_uncorrected || !pending || !failed) return INVALID_ARGUMENT;
        *of_corrected = *pending = *failed = 0;
        *of_uncorrected = static_cast<unsigned int>(count_of(device, model::Counter::rows_remapped));
        return SUCCESS;
    });
}

// Devices from sm_80 on remap rows instead; the number is all that is emulated.
nvmlReturn_t nvmlDeviceGetRetiredPages_v2(nvmlDevice_t handle, int cause, unsigned int *count, unsigned long long *addresses,
                                          unsigned long long *) {
    return of_device(Call::nvmlDeviceGetRetiredPages_v2, handle, [&](model::Device &device) -> nvmlReturn_t {
        if (!count || cause < 0 || cause > 1) return INVALID_ARGUMENT;
        const auto pages = static_cast<unsigned int>(cause == 1 ? count_of(device, model::Counter::pages_retired) : 0);
        const bool room = addresses && *count >= pages;
        *count = pages;
        for (unsigned int i = 0; room && i < pages; ++i) addresses[i] = 0x1000ull * (i + 1);
        return pages == 0 || room ? SUCCESS : INSUFFICIENT_SIZE;
    });
}

nvmlReturn_t nvmlDeviceGetRetiredPagesPendingStatus(nvmlDevice_t handle, int *out) {
    return of_device(Call::nvmlDeviceGetRetiredPagesPendingStatus, handle, [&](model::Device &) { return give(out, 0); });
}

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t handle, int sensor, unsigned int *out) {
    return of_device(Call::nvmlDeviceGetTemperature, handle, [&](model::Device &device) -> nvmlReturn_t {
        return sensor == 0 ? give(out, count_of(device, model::Counter::temperature_c)) : INVALID_ARGUMENT;
    });
}

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t handle, unsigned int *out) {
    return of_device(Call::nvmlDeviceGetPowerUsage, handle,
                     [&](model::Device &device) { return give(out, count_of(device, model::Counter::power_mw)); });
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t handle, int clock, unsigned int *out) {
    return of_device(Call::nvmlDeviceGetClockInfo, handle, [&](model::Device &device) -> nvmlReturn_t {
        if (clock < graphics || clock > video) return INVALID_ARGUMENT;
        return give(out, count_of(device, clock == memory ? model::Counter::memory_clock_mhz : model::Counter::clock_mhz));
    });
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t handle, int clock, unsigned int *out) {
    return of_device(Call::nvmlDeviceGetMaxClockInfo, handle, [&](model::Device &device) -> nvmlReturn_t {
        if (clock < graphics || clock > video) return INVALID_ARGUMENT;
        return give(out,
                    count_of(device, clock == memory ? model::Counter::memory_clock_mhz : model::Counter::max_clock_mhz));
    });
}

nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t handle, unsigned long long *out) {
    return of_device(Call::nvmlDeviceGetCurrentClocksThrottleReasons, handle,
                     [&](model::Device &device) { return reasons(device, out); });
}

nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t handle, unsigned long long *out) {
    return of_device(Call::nvmlDeviceGetCurrentClocksEventReasons, handle,
                     [&](model::Device &device) { return reasons(device, out); });
}

} // extern "C"
} // namespace hbf::emulated::nvml
