// SPDX-License-Identifier: Apache-2.0
// The exported functions, so that each definition is checked against functions.inc.
#pragma once

#include "conformance/emulators/amd/hip/api.hpp"

namespace hbf::emulated::hip {
extern "C" {
#define F(release, name, parameters) HBF_EXPORTED hipError_t name parameters;
#define R(release, name, parameters) HBF_EXPORTED hiprtcResult name parameters;
#define S(release, name, result, parameters) HBF_EXPORTED result name parameters;
#include "conformance/emulators/amd/hip/functions.inc"
#include "conformance/emulators/amd/hip/rtc_functions.inc"
#undef F
#undef R
#undef S
}
} // namespace hbf::emulated::hip
