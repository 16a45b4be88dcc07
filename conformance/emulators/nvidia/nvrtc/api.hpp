// SPDX-License-Identifier: Apache-2.0
// NVRTC as its reference (release 13.0) has it, as far as it is emulated.
#pragma once

#include <cstddef>

namespace hbf::emulated::nvrtc {

struct Program;
using nvrtcResult = int;
using nvrtcProgram = Program *;

enum Code : nvrtcResult {
    SUCCESS = 0,
    OUT_OF_MEMORY = 1,
    INVALID_INPUT = 3,
    INVALID_PROGRAM = 4,
    INVALID_OPTION = 5,
    COMPILATION = 6,
};

} // namespace hbf::emulated::nvrtc
