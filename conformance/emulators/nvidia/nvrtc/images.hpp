// SPDX-License-Identifier: Apache-2.0
// What the emulated compiler writes: images that say for which device they are and which kernels they have, and hold no
// code. The emulated libcuda runs the host twins of these names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hbf::emulated::nvrtc {

// The kernels of a source: `__global__ void NAME(`, and what the project's own macros make one.
std::vector<std::string> entries(std::string_view source);

std::string cubin(int architecture, const std::vector<std::string> &entries); // 90: sm_90
std::string ptx(int architecture, const std::vector<std::string> &entries);   // 90: compute_90

} // namespace hbf::emulated::nvrtc
