// SPDX-License-Identifier: Apache-2.0
// Every kernel of the catalogue, on every OpenCL device of this machine and as its twin on the host: the same bytes in, the
// same bytes out.
#include <algorithm>

#include <gtest/gtest.h>

#include "hbf/abi/command.h"
#include "hbf/sdk/failure.hpp"
#include "kernels/device/device_kernels.inc"
#include "kernels/equality/device.hpp"
#include "kernels/equality/sample.hpp"

namespace hbf::kernels {
namespace {

// What a kernel's file says it is to be tried on; false if it says nothing.
bool sample_of(std::string_view name, device::Sample &sample) {
#define KERNEL(kernel, version, ...)                                                                                        \
    if (name == #kernel "/" #version)                                                                                       \
        return [](auto &to) {                                                                                               \
            if constexpr (requires { kernel##_sample(to); }) return kernel##_sample(to), true;                              \
            return false;                                                                                                   \
        }(sample);
#include "kernels/device/table.inc"
#undef KERNEL
    return false;
}

const std::vector<std::unique_ptr<Device>> &devices() {
    static const auto list = Device::all();
    return list;
}

std::vector<const device::Kernel *> kernels_of(std::span<const device::Kernel> catalogue) {
    std::vector<const device::Kernel *> out;
    for (const auto &kernel : catalogue) out.push_back(&kernel);
    return out;
}

class Equality : public ::testing::TestWithParam<const device::Kernel *> {};
INSTANTIATE_TEST_SUITE_P(Kernel, Equality, ::testing::ValuesIn(kernels_of(device::catalogue())),
                         [](const auto &kernel) { return std::string(kernel.param->function); });

void compare(Device &device, const device::Kernel &kernel, const Device::Built &built, const device::Sample &sample,
             uint32_t groups, uint32_t group_size, uint64_t offset) {
    auto twin = sample.buffers, there = sample.buffers;
    std::vector<device::TwinBuffer> buffers;
    for (auto &bytes : twin) buffers.push_back({bytes.data(), bytes.size()});
    const uint32_t count[3] = {groups, 1, 1}, size[3] = {group_size, 1, 1};
    device::run(kernel, buffers.data(), sample.argument_bytes.data(), count, size);
    device.launch(built, there, sample.argument_bytes, groups, group_size, offset);
    bool wrote = false;
    for (size_t i = 0; i < twin.size(); ++i) {
        const auto [ours, theirs] = std::mismatch(twin[i].begin(), twin[i].end(), there[i].begin());
        ASSERT_EQ(ours, twin[i].end()) << kernel.name << ", " << groups << " groups of " << group_size << ": buffer " << i
                                       << " differs at byte " << ours - twin[i].begin() << ", " << unsigned{*ours}
                                       << " on the "
                                       << "host, " << unsigned{*theirs} << " on " << device.name();
        const bool changed = twin[i] != sample.buffers[i];
        ASSERT_TRUE(!changed || (kernel.access[i] & HBF_KERNEL_WRITES)) << kernel.name << " writes to buffer " << i;
        wrote |= changed;
    }
    ASSERT_TRUE(wrote) << kernel.name << " did nothing with its sample";
}

TEST_P(Equality, OfTwinAndOpenCl) {
    const device::Kernel &kernel = *GetParam();
    device::Sample sample;
    ASSERT_TRUE(sample_of(kernel.name, sample))
        << "the file of " << kernel.name << " has no " << kernel.function << "_sample";
    ASSERT_EQ(sample.buffers.size(), kernel.buffer_count);
    ASSERT_EQ(sample.argument_bytes.size(), kernel.arguments_size);
    try {
        if (devices().empty()) GTEST_SKIP() << "no OpenCL device here (Debian and Ubuntu: pocl-opencl-icd)";
    } catch (const sdk::Failure &failure) {
        GTEST_SKIP() << failure.message;
    }
    std::string lacking;
    size_t ran = 0;
    for (const auto &device : devices()) {
        if (const auto reason = device->missing(kernel); !reason.empty()) {
            lacking += device->name() + ": " + reason + "; ";
            continue;
        }
        try {
            const auto built = device->build(kernel);
            compare(*device, kernel, built, sample, 5, 64, 8);
            compare(*device, kernel, built, sample, 1, 64, 0);
            compare(*device, kernel, built, sample, 3, 7, 0);
            device->drop(built);
        } catch (const sdk::Failure &failure) {
            FAIL() << device->name() << ": " << failure.message;
        }
        ++ran;
    }
    if (ran == 0) GTEST_SKIP() << lacking;
}

} // namespace
} // namespace hbf::kernels
