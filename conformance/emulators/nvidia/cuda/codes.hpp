// SPDX-License-Identifier: Apache-2.0
// Which CUresult says what happened on the machine.
#pragma once

#include "conformance/emulators/nvidia/cuda/api.hpp"
#include "conformance/sim/model/outcome.hpp"

namespace hbf::emulated::cuda {

CUresult code(model::Outcome outcome) noexcept;    // of work on the device
CUresult refusal(model::Outcome outcome) noexcept; // of a call that was refused before anything ran
const char *name_of(CUresult result) noexcept;     // "CUDA_ERROR_INVALID_VALUE", nullptr: no such code
const char *description_of(CUresult result) noexcept;

} // namespace hbf::emulated::cuda
