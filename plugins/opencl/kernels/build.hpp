// SPDX-License-Identifier: Apache-2.0
// A kernel of the catalogue as a program of this device: from the cache, else by the driver's compiler.
#pragma once

#include "hbf/sdk/log.hpp"
#include "kernels/device/catalogue.hpp"
#include "plugins/opencl/context.hpp"
#include "plugins/opencl/kernels/program_cache.hpp"

namespace hbf::opencl {

using Program = Owned<cl_program, &Functions::ReleaseProgram>;
using Kernel = Owned<cl_kernel, &Functions::ReleaseKernel>;

struct BuildPlace {
    const Functions &cl;
    cl_context context;
    cl_device_id device;
    const Ability &ability;
    ProgramCache &cache;
    const sdk::Log &log;
};

struct Built {
    Program program;
    Kernel kernel;           // of it, to ask and to copy from; nobody sets its arguments
    bool from_cache = false; // else by the compiler, now
    uint32_t max_group_size = 0;
};

// Throws sdk::Failure: HBF_UNAVAILABLE with the compiler's first words where the text does not build (all of them are in the
// log then), HBF_UNSUPPORTED where it builds but needs more than the device has, else what the driver's error means.
Built build(const BuildPlace &place, const kernels::device::Kernel &kernel);

} // namespace hbf::opencl
