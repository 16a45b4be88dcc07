// SPDX-License-Identifier: Apache-2.0
// Kernels of the fake device: the project's own, run as their host twins, and one that only tests know.
#pragma once

#include <string_view>
#include <vector>

#include "hbf/abi/command.h"

namespace hbf::testing {

// "add/1": buffer 0 read, buffer 1 written: 64-bit words of 0, plus `addend`. Both have as many words as buffer 0.
struct AddArguments {
    uint64_t addend;
};

struct FakeMemory { // what a buffer of a launch is
    void *address;
    uint64_t size;
};

struct FakeKernel {
    std::string_view name;
    uint32_t buffer_count;
    uint64_t arguments_size;
};
const FakeKernel *find_fake_kernel(std::string_view name);
const FakeKernel *fake_kernel(uint64_t id); // from 1; nullptr: there is none
uint64_t id_of(const FakeKernel &kernel);
void run_fake_kernel(const FakeKernel &kernel, const FakeMemory *buffers, const hbf_launch &launch);

} // namespace hbf::testing
