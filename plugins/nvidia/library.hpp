// SPDX-License-Identifier: Apache-2.0
// The CUDA driver of this machine, libcuda.so.1: opened at run time, never linked, never closed.
//
//     const Driver &cuda = driver();
//     cuda.DeviceGetCount(&count);
#pragma once

#include "plugins/nvidia/api.hpp"

namespace hbf::nvidia {

namespace cuda {

struct Driver {
    int version = 0; // 12040: it serves CUDA 12.4
// NOLINTNEXTLINE(bugprone-macro-parentheses): a member's name and a list of parameters cannot stand in them
#define HBF_CUDA_MEMBER(name, since, parameters) Result(*name) parameters = nullptr;
    HBF_CUDA_FUNCTIONS(HBF_CUDA_MEMBER)
    HBF_CUDA_OPTIONAL_FUNCTIONS(HBF_CUDA_MEMBER)
#undef HBF_CUDA_MEMBER
};

} // namespace cuda

using cuda::Driver;

inline constexpr const char *driver_library = "libcuda.so.1";
inline constexpr int oldest_driver = 12000;

// The table of one library. Throws sdk::Failure: HBF_UNAVAILABLE "driver_absent: ..." or "driver_stub: ...", HBF_UNSUPPORTED
// "driver_too_old: ..." where it says an older version, nonsense, or lacks a function.
Driver load_driver(const char *file);

// [any thread] That of this machine, the same each time; a failure is tried again by the next call.
const Driver &driver();

} // namespace hbf::nvidia
