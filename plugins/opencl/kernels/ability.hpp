// SPDX-License-Identifier: Apache-2.0
// What a device can, as far as kernels ask for it.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "kernels/device/catalogue.hpp"
#include "plugins/opencl/info.hpp"

namespace hbf::opencl {

struct Ability {
    PlatformFacts platform;
    DeviceFacts device;
    bool little_endian = false;
    bool int64 = false;          // always in the full profile
    bool exact_division = false; // correctly rounded fp32 / and sqrt can be asked for
    std::string c11_options;     // "-cl-std=...": with it there are acquire and release in device scope; "": there are none
    uint64_t max_parameters = 0; // bytes of all parameters of a kernel
    cl_device_type type = 0;
    std::array<uint64_t, 3> max_group_extent{}; // work-items in each dimension
};

// Throws sdk::Failure where the driver refuses to tell.
Ability read_ability(const Functions &cl, cl_device_id device);

// "", or why this device cannot run `kernel`: "it needs fp16 (cl_khr_fp16)"; several, separated by commas.
std::string missing(const Ability &ability, const kernels::device::Kernel &kernel);

// For clBuildProgram: the language, and arithmetic as the kernel's text says it.
std::string build_options(const Ability &ability, const kernels::device::Kernel &kernel);

} // namespace hbf::opencl
