// SPDX-License-Identifier: Apache-2.0
#include "core/fabric/testing/fake_kernels.hpp"

#include <cstring>

#include "kernels/device/catalogue.hpp"

namespace hbf::testing {
namespace {

void add(const FakeMemory *buffers, const void *raw) {
    AddArguments arguments;
    std::memcpy(&arguments, raw, sizeof(arguments));
    const auto *from = static_cast<const uint64_t *>(buffers[0].address);
    auto *to = static_cast<uint64_t *>(buffers[1].address);
    for (uint64_t i = 0; i < buffers[0].size / 8; ++i) to[i] = from[i] + arguments.addend;
}

const std::vector<FakeKernel> &all() {
    static const std::vector<FakeKernel> kernels = [] {
        std::vector<FakeKernel> list{{"add/1", 2, sizeof(AddArguments)}};
        for (const auto &kernel : kernels::device::catalogue())
            list.push_back({kernel.name, kernel.buffer_count, kernel.arguments_size});
        return list;
    }();
    return kernels;
}

} // namespace

const FakeKernel *find_fake_kernel(std::string_view name) {
    for (const FakeKernel &kernel : all())
        if (kernel.name == name) return &kernel;
    return nullptr;
}

const FakeKernel *fake_kernel(uint64_t id) {
    return id == 0 || id > all().size() ? nullptr : &all()[id - 1];
}

uint64_t id_of(const FakeKernel &kernel) {
    return static_cast<uint64_t>(&kernel - all().data()) + 1;
}

void run_fake_kernel(const FakeKernel &kernel, const FakeMemory *buffers, const hbf_launch &launch) {
    const auto *twin = kernels::device::find(kernel.name);
    if (twin == nullptr) return add(buffers, launch.arguments);
    kernels::device::TwinBuffer memory[8];
    for (uint32_t i = 0; i < kernel.buffer_count; ++i) memory[i] = {buffers[i].address, buffers[i].size};
    kernels::device::run(*twin, memory, launch.arguments, launch.groups, launch.group_size);
}

} // namespace hbf::testing
