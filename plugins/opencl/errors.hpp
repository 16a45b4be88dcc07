// SPDX-License-Identifier: Apache-2.0
// OpenCL's error codes: their names, and what they mean to a host.
#pragma once

#include <string>
#include <string_view>

#include "hbf/abi/basic.h"
#include "plugins/opencl/cl.hpp"

namespace hbf::opencl {

std::string_view error_name(cl_int code) noexcept; // "CL_OUT_OF_RESOURCES", or "an unknown error"
std::string error_text(cl_int code);               // "CL_OUT_OF_RESOURCES (-5)"
hbf_status error_status(cl_int code) noexcept;     // by cause; HBF_OK for CL_SUCCESS
// Of a command that the driver had taken and that ended so: what a driver says of a device that is gone, or of a kernel that
// went astray on it, is CL_OUT_OF_RESOURCES as often as not.
hbf_status end_status(cl_int code) noexcept;

// Throws sdk::Failure where `code` is none of success: "WHAT: CL_OUT_OF_RESOURCES (-5)".
void check(cl_int code, std::string_view what);

} // namespace hbf::opencl
