// SPDX-License-Identifier: Apache-2.0
// hipModule_t and hipFunction_t. An object stays where it is after its end, so that a stale handle is an error and no crash.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "conformance/emulators/amd/hip/runtime.hpp"

namespace hbf::kernels::device {
struct Kernel;
}

namespace hbf::emulated::hip {

struct Function {
    Module *module;
    std::string name;
    const kernels::device::Kernel *kernel; // the twin that runs; nullptr: there is none
};

struct Module {
    int device; // the machine's index
    std::vector<std::unique_ptr<Function>> functions;
    std::atomic<bool> loaded{true};
};

const Function *function_of(hipFunction_t handle); // nullptr: none, or its module was unloaded

} // namespace hbf::emulated::hip
