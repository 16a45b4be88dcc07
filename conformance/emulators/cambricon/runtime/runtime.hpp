// SPDX-License-Identifier: Apache-2.0
// What every function of CNRT begins and ends with: CNDrv started, a current device (the first, until a thread sets
// another), and the last error of the thread.
#pragma once

#include "conformance/emulators/calls/calls.hpp"
#include "conformance/emulators/cambricon/runtime/api.hpp"

namespace hbf::emulated::cnrt {

extern "C" {
#define F(name, parameters) HBF_EXPORTED cnrtRet_t name parameters;
#include "conformance/emulators/cambricon/runtime/functions.inc"
#undef F
HBF_EXPORTED const char *cnrtGetErrorName(cnrtRet_t error);
HBF_EXPORTED const char *cnrtGetErrorStr(cnrtRet_t error);
}

enum class Call : uint32_t {
#define F(name, parameters) name,
#include "conformance/emulators/cambricon/runtime/functions.inc"
#undef F
    supported,
};
Calls &calls();

cnrtRet_t begin() noexcept; // Success, or why nothing can be done
cnrtRet_t begin_on_device() noexcept;
cnrtRet_t remember(cnrtRet_t code) noexcept; // as the thread's last error, if it is one

template <class Work>
cnrtRet_t call(Call function, Work &&work) noexcept {
    calls().count(static_cast<size_t>(function));
    if (const cnrtRet_t no = begin(); no != Success) return remember(no);
    return remember(work());
}

template <class Work>
cnrtRet_t on_device(Call function, Work &&work) noexcept {
    calls().count(static_cast<size_t>(function));
    if (const cnrtRet_t no = begin_on_device(); no != Success) return remember(no);
    return remember(work());
}

template <class Work>
cnrtRet_t of_device(Call function, int ordinal, Work &&work) noexcept {
    return call(function, [&]() -> cnrtRet_t {
        cn::CNdev device = 0;
        const cnrtRet_t no = cn::cnDeviceGet(&device, ordinal);
        return no != Success ? no : work(device);
    });
}

} // namespace hbf::emulated::cnrt
