// SPDX-License-Identifier: Apache-2.0
// What the OpenCL plugin can be told.
#pragma once

#include <cstdint>
#include <string>

#include "hbf/sdk/plugin.hpp"

namespace hbf::opencl {

struct OpenClOptions {
    std::string platform, device;                               // part of a name, or an index; "": any
    uint64_t device_bytes = 0, mapped_bytes = 0, svm_bytes = 0; // capacities of the tiers; 0: the plugin's choice
};

// Throws INVALID, naming the option and the nearest known one, or what its value should be.
OpenClOptions parse_options(const sdk::Options &options);

} // namespace hbf::opencl
