// SPDX-License-Identifier: Apache-2.0
// NVIDIA's compiler at run time, libnvrtc.so: opened when the first kernel is compiled, never linked.
#pragma once

#include <string>

namespace hbf::nvidia {

// CUDA source to an image for one architecture ("sm_90"). Throws sdk::Failure: UNAVAILABLE where there is no compiler, it is
// too old for the device, or the source does not compile; `log` then has all of the compiler's words, the message the first.
std::string compile_cuda(const std::string &source, const std::string &name, const std::string &architecture,
                         std::string &log);
std::string nvrtc_version(); // "NVRTC 13.0"; throws as above

} // namespace hbf::nvidia
