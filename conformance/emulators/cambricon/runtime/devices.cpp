// SPDX-License-Identifier: Apache-2.0
// cnrt.h, "Device Management" and "Version Management".
#include <cstdio>
#include <string>

#include "conformance/emulators/cambricon/driver/driver.hpp"
#include "conformance/emulators/cambricon/runtime/runtime.hpp"
#include "conformance/emulators/cambricon/version.hpp"

namespace hbf::emulated::cnrt {

extern "C" {

// "cnrtErrorNoDevice if there is no device."
cnrtRet_t cnrtGetDeviceCount(unsigned int *count) {
    return call(Call::cnrtGetDeviceCount, [&]() -> cnrtRet_t {
        if (!count) return ErrorArgsInvalid;
        int found = 0;
        const cnrtRet_t no = cn::cnDeviceGetCount(&found);
        *count = static_cast<unsigned int>(found);
        return no;
    });
}

// "Of the calling host thread."
cnrtRet_t cnrtSetDevice(int ordinal) {
    return of_device(Call::cnrtSetDevice, ordinal, [&](cn::CNdev device) -> cnrtRet_t {
        cn::CNcontext context = nullptr;
        const cnrtRet_t no = cn::cnSharedContextAcquire(&context, device);
        return no != Success ? no : cn::cnCtxSetCurrent(context);
    });
}

cnrtRet_t cnrtGetDevice(int *ordinal) {
    return on_device(Call::cnrtGetDevice, [&]() -> cnrtRet_t {
        if (!ordinal) return ErrorArgsInvalid;
        cn::CNcontext context = nullptr;
        if (const cnrtRet_t no = cn::cnCtxGetCurrent(&context); no != Success) return no;
        *ordinal = context->ordinal;
        return Success;
    });
}

cnrtRet_t cnrtDeviceGetAttribute(int *value, int attribute, int ordinal) {
    return of_device(Call::cnrtDeviceGetAttribute, ordinal,
                     [&](cn::CNdev device) { return cn::cnDeviceGetAttribute(value, attribute, device); });
}

cnrtRet_t cnrtDeviceGetPCIBusId(char *text, int size, int ordinal) {
    return of_device(Call::cnrtDeviceGetPCIBusId, ordinal,
                     [&](cn::CNdev device) { return cn::cnDeviceGetPCIBusId(text, size, device); });
}

cnrtRet_t cnrtDeviceGetByPCIBusId(int *ordinal, const char *text) {
    return call(Call::cnrtDeviceGetByPCIBusId, [&]() -> cnrtRet_t {
        int count = 0;
        if (!ordinal || !text) return ErrorArgsInvalid;
        if (const cnrtRet_t no = cn::cnDeviceGetCount(&count); no != Success) return no;
        for (int i = 0; i < count; ++i) {
            char one[32] = {};
            cn::CNdev device = 0;
            if (cn::cnDeviceGet(&device, i) == Success && cn::cnDeviceGetPCIBusId(one, sizeof one, device) == Success &&
                std::string(text) == one) {
                *ordinal = i;
                return Success;
            }
        }
        return ErrorDeviceInvalid;
    });
}

cnrtRet_t cnrtGetPeerAccessibility(unsigned int *able, int ordinal, int peer) {
    return of_device(Call::cnrtGetPeerAccessibility, ordinal, [&](cn::CNdev device) -> cnrtRet_t {
        if (!able) return ErrorArgsInvalid;
        cn::CNdev other = 0;
        if (const cnrtRet_t no = cn::cnDeviceGet(&other, peer); no != Success) return no;
        int found = 0;
        const cnrtRet_t no = cn::cnDeviceCanPeerAble(&found, device, other);
        *able = static_cast<unsigned int>(found);
        return no;
    });
}

cnrtRet_t cnrtSyncDevice(void) {
    return on_device(Call::cnrtSyncDevice, [] { return cn::cnCtxSync(); });
}

cnrtRet_t cnrtDeviceGetQueuePriorityRange(int *lowest, int *highest) {
    return on_device(Call::cnrtDeviceGetQueuePriorityRange, [&]() -> cnrtRet_t {
        if (!lowest || !highest) return ErrorArgsInvalid;
        *lowest = 7, *highest = 0;
        return Success;
    });
}

cnrtRet_t cnrtDriverGetVersion(int *major, int *minor, int *patch) {
    return call(Call::cnrtDriverGetVersion, [&] { return cn::cnGetDriverVersion(major, minor, patch); });
}

// Needs neither driver nor device.
cnrtRet_t cnrtGetLibVersion(int *major, int *minor, int *patch) {
    calls().count(static_cast<size_t>(Call::cnrtGetLibVersion));
    if (!major || !minor || !patch) return remember(ErrorArgsInvalid);
    const Version version = cambricon_version("library_version", "6.14.1");
    *major = version.major, *minor = version.minor, *patch = version.patch;
    return Success;
}

} // extern "C"

} // namespace hbf::emulated::cnrt
