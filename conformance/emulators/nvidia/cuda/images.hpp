// SPDX-License-Identifier: Apache-2.0
// What cuModuleLoadData is given: a cubin, a fat binary or PTX text. Of each the emulator wants to know whether the device
// would take it, and which kernels it has; what runs is the host twin of the same name.
#pragma once

#include <string>
#include <vector>

#include "conformance/emulators/nvidia/cuda/api.hpp"

namespace hbf::emulated::cuda {

struct Image {
    CUresult refused = SUCCESS; // why this device does not take it
    std::string log;            // for CU_JIT_ERROR_LOG_BUFFER
    int binary_version = 0;     // 90: sm_90
    int ptx_version = 0;        // 80: compute_80; 0: no PTX
    std::vector<std::string> entries;
};

// For a device of compute capability `capability` (90). `image`: as the caller of the API gives it, its size is in itself.
Image look_at(const void *image, int capability);

} // namespace hbf::emulated::cuda
