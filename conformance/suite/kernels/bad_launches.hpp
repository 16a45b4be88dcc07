// SPDX-License-Identifier: Apache-2.0
// What can be wrong with a launch, one thing at a time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hbf/abi/command.h"
#include "hbf/abi/kernels.h"

namespace hbf::conformance {

struct BadLaunch {
    std::string what;
    // Of a good launch: one of its buffers, and the command.
    std::function<void(hbf_kernel_buffer &buffer, hbf_launch &launch)> spoil;
};

std::vector<BadLaunch> bad_launches(const hbf_kernel_info &kernel, uint64_t region_size, hbf_region stale);

} // namespace hbf::conformance
