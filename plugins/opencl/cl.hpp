// SPDX-License-Identifier: Apache-2.0
// Khronos' declarations, as this plugin uses them: of version 3.0, with what 2.0 replaced but OpenCL 1.2 needs. Types and
// constants only: every function is called through the table of library.hpp.
#pragma once

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#ifndef CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#endif
#include <CL/cl.h>
#include <CL/cl_ext.h>
