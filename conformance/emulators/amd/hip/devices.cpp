// SPDX-License-Identifier: Apache-2.0
// Which devices there are, whose the thread's calls are, and how a device ends and begins.
#include <cstdio>
#include <cstring>

#include "conformance/emulators/amd/hip/runtime.hpp"

namespace hbf::emulated::hip {
namespace {

hipError_t give_text(char *out, int size, const std::string &text) {
    if (!out || size <= 0) return hipErrorInvalidValue;
    std::snprintf(out, static_cast<size_t>(size), "%s", text.c_str());
    return hipSuccess;
}

} // namespace

extern "C" {

// Header, hipGetDeviceCount: 0 and hipErrorNoDevice if there is none.
hipError_t hipGetDeviceCount(int *count) {
    if (count) *count = 0;
    return started(Call::hipGetDeviceCount, [&] { return give(count, device_count()); });
}

// Header, hipDeviceGet: the handle of an ordinal; on AMD it is the ordinal.
hipError_t hipDeviceGet(hipDevice_t *device, int ordinal) {
    return of_device(Call::hipDeviceGet, ordinal, [&](model::Device &) { return give(device, ordinal); });
}

// Header, hipSetDevice: "set default device to be used for subsequent hip API calls from this thread".
hipError_t hipSetDevice(int ordinal) {
    return of_device(Call::hipSetDevice, ordinal, [&](model::Device &) {
        set_current(ordinal);
        return hipSuccess;
    });
}

// Header, hipGetDevice.
hipError_t hipGetDevice(int *ordinal) {
    return started(Call::hipGetDevice, [&] { return give(ordinal, current_ordinal()); });
}

// Header, hipDeviceGetName.
hipError_t hipDeviceGetName(char *name, int size, hipDevice_t device) {
    return of_device(Call::hipDeviceGetName, device, [&](model::Device &of) { return give_text(name, size, of.name()); });
}

// Header, hipDeviceGetUuid: on AMD sixteen characters, "GPU-" left out.
hipError_t hipDeviceGetUuid(hipUUID *uuid, hipDevice_t device) {
    return of_device(Call::hipDeviceGetUuid, device, [&](model::Device &of) -> hipError_t {
        if (!uuid) return hipErrorInvalidValue;
        std::memset(uuid->bytes, 0, sizeof uuid->bytes);
        std::memcpy(uuid->bytes, of.profile().uuid.data(), std::min(sizeof uuid->bytes, of.profile().uuid.size()));
        return hipSuccess;
    });
}

// Header, hipDeviceTotalMem.
hipError_t hipDeviceTotalMem(size_t *bytes, hipDevice_t device) {
    return of_device(Call::hipDeviceTotalMem, device,
                     [&](model::Device &of) { return give<size_t>(bytes, machine().memory().usage(of.index()).total); });
}

// Header, hipDeviceGetPCIBusId: "domain:bus:device.function" in hexadecimal digits.
hipError_t hipDeviceGetPCIBusId(char *out, int size, int device) {
    return of_device(Call::hipDeviceGetPCIBusId, device, [&](model::Device &of) -> hipError_t {
        // "... and hipErrorInvalidValue": room for the address and its end.
        if (!out || size < static_cast<int>(of.profile().pci.size()) + 1) return hipErrorInvalidValue;
        return give_text(out, size, of.profile().pci);
    });
}

// Header, hipDeviceGetByPCIBusId: accepts domain:bus:device.function; hipErrorInvalidDevice if none is there.
hipError_t hipDeviceGetByPCIBusId(int *device, const char *text) {
    return started(Call::hipDeviceGetByPCIBusId, [&]() -> hipError_t {
        const auto parts = [](const char *of, unsigned(&at)[4]) {
            return std::sscanf(of, "%x:%x:%x.%x", &at[0], &at[1], &at[2], &at[3]) == 4;
        };
        unsigned asked[4], here[4];
        if (!device || !text || !parts(text, asked)) return hipErrorInvalidValue;
        for (int i = 0; i < device_count(); ++i)
            if (parts(device_of(i)->profile().pci.c_str(), here) && std::memcmp(asked, here, sizeof here) == 0)
                return give(device, i);
        return hipErrorInvalidDevice;
    });
}

// Header, hipDeviceGetStreamPriorityRange: least 1, greatest -1 on AMD.
hipError_t hipDeviceGetStreamPriorityRange(int *least, int *greatest) {
    return started(Call::hipDeviceGetStreamPriorityRange, [&] {
        if (least) *least = 1;
        if (greatest) *greatest = -1;
        return hipSuccess;
    });
}

// Header, hipSetDeviceFlags: how host threads wait; a mask of schedule flags. Nothing here depends on it.
hipError_t hipSetDeviceFlags(unsigned int flags) {
    return started(Call::hipSetDeviceFlags,
                   [&]() -> hipError_t { return (flags & ~0x1fu) ? hipErrorInvalidValue : hipSuccess; });
}

// Header, hipGetDeviceFlags: automatic.
hipError_t hipGetDeviceFlags(unsigned int *flags) {
    return started(Call::hipGetDeviceFlags, [&] { return give(flags, 0u); });
}

// Header, hipDeviceSynchronize: "waits on all active streams on current device"; "returns an error if one of the preceding
// requested tasks has failed" (HIP guide).
hipError_t hipDeviceSynchronize() {
    return on_device(Call::hipDeviceSynchronize, [&](model::Device &device) { return code(device.synchronize()); });
}

// Header, hipDeviceReset: "the state of current device is discarded and updated to a fresh state".
hipError_t hipDeviceReset() {
    return started(Call::hipDeviceReset, [&]() -> hipError_t {
        (void)current().synchronize();
        current().mend();
        return code(current().status());
    });
}

} // extern "C"
} // namespace hbf::emulated::hip
