// SPDX-License-Identifier: Apache-2.0
// Which of the machine's devices this process may see, as environment variables say.
#pragma once

#include <string_view>
#include <vector>

namespace hbf::emulated::hip {

// ROCm documentation, "Environment variables: isolation": ROCR_VISIBLE_DEVICES first, then HIP_VISIBLE_DEVICES of what is
// left, or CUDA_VISIBLE_DEVICES where that is not set.
std::vector<int> visible_devices(std::vector<int> all);
// One list: ordinals, "0,2"; it ends at the first that is none. An empty text hides all.
std::vector<int> chosen(const std::vector<int> &from, std::string_view list);

} // namespace hbf::emulated::hip
