// SPDX-License-Identifier: Apache-2.0
// The exported functions, so that each definition is checked against functions.inc.
#pragma once

#include "conformance/emulators/nvidia/cuda/api.hpp"

#define HBF_EXPORTED __attribute__((visibility("default")))

namespace hbf::emulated::cuda {
extern "C" {
#define F(name, version, symbol, parameters) HBF_EXPORTED CUresult symbol parameters;
#include "conformance/emulators/nvidia/cuda/functions.inc"
#undef F
}
} // namespace hbf::emulated::cuda
