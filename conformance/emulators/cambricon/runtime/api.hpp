// SPDX-License-Identifier: Apache-2.0
// CNRT's interface as its documents give it (cnrt.h of 6.14, and of 6.0 where the two agree), declared here because nothing
// of Cambricon's is needed to build. CNRT is a layer over CNDrv: handles and most codes are CNDrv's.
#pragma once

#include "conformance/emulators/cambricon/driver/functions.hpp"

namespace hbf::emulated::cnrt {

using cnrtRet_t = int;
using cnrtQueue_t = cn::CNqueue;
using cnrtNotifier_t = cn::CNnotifier;
using cnrtHostFn_t = void (*)(void *data);

enum Code : cnrtRet_t {
    Success = 0,
    ErrorArgsInvalid = 100006,
    ErrorNotSupport = 100050,
    ErrorDeviceInvalid = 100005,
    ErrorMemcpyDirectionInvalid = 632013,
};

// cnrtMemTransDir_t; DevToDev is 1 and DevToHost 2, other than CUDA's.
enum Direction : int { HostToDev = 0, DevToDev = 1, DevToHost = 2, HostToHost = 3, PeerToPeer = 4, NoDirection = 5 };

struct cnrtPointerAttributes_t { // 48 bytes
    int type;                    // 0: unregistered, 1: host, 2: device
    int device;
    size_t size;
    void *device_pointer, *host_pointer;
    int cache_mode;
    void *device_base_pointer;
};
static_assert(sizeof(cnrtPointerAttributes_t) == 48);

} // namespace hbf::emulated::cnrt
