// SPDX-License-Identifier: Apache-2.0
// The exported functions, so that each definition is checked against functions.inc.
#pragma once

#include "conformance/emulators/cambricon/driver/api.hpp"

#define HBF_EXPORTED __attribute__((visibility("default")))

namespace hbf::emulated::cn {
extern "C" {
#define F(name, parameters) HBF_EXPORTED CNresult name parameters;
#include "conformance/emulators/cambricon/driver/functions.inc"
#undef F
}
} // namespace hbf::emulated::cn
