// SPDX-License-Identifier: Apache-2.0
// What a device can, as far as kernels ask for it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/device/catalogue.hpp"
#include "plugins/opencl/library.hpp"

namespace hbf::opencl {

struct Ability {
    // Names as the driver gives them; with them a built program is known again.
    std::string platform, platform_version, name, version, driver, extensions;
    cl_device_type type = 0;
    bool little_endian = false, compiler = false;
    bool int64 = false;         // always in the full profile
    bool int64_atomics = false; // cl_khr_int64_base_atomics
    bool fp16 = false, fp64 = false;
    bool exact_division = false;  // correctly rounded fp32 / and sqrt can be asked for
    std::string_view c11_options; // "-cl-std=...": with it there are acquire and release in device scope; "": there are none
    uint64_t local_memory = 0;    // bytes a group can have
    uint64_t max_parameters = 0;  // bytes of all parameters of a kernel
    uint32_t compute_units = 1;
    uint64_t max_group_size = 0;                // work-items
    std::array<uint64_t, 3> max_group_extent{}; // work-items in each dimension
};

// Throws sdk::Failure where the driver refuses to tell.
Ability read_ability(const Functions &cl, cl_device_id device);

// "", or why this device cannot run `kernel`: "it needs fp16 (cl_khr_fp16)"; several, separated by commas.
std::string missing(const Ability &ability, const kernels::device::Kernel &kernel);

// For clBuildProgram: the language, and arithmetic as the kernel's text says it.
std::string build_options(const Ability &ability, const kernels::device::Kernel &kernel);

} // namespace hbf::opencl
