// SPDX-License-Identifier: Apache-2.0
// From a launch command to the driver's calls: what is refused, what the kernel is given, and by several threads at once.
#include <array>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include "core/fabric/testing/allocations.hpp"
#include "plugins/opencl/tests/fake/fixture.hpp"

namespace hbf::opencl {
namespace {

class Launch : public OnFake {
protected:
    const std::unique_ptr<Context> context = open_context();
    const std::unique_ptr<DeviceKernels> kernels = open_kernels(*context);
};

TEST_F(Launch, GivesTheKernelItsPlacesAndArguments) {
    CopyByKernel copy(*context, *kernels);
    for (uint64_t first = 0; first < 5; ++first) EXPECT_TRUE(copy.copies(1000 * first));
}

TEST_F(Launch, RunsInThreeDimensions) {
    static struct {
        cl_uint dimensions;
        std::array<size_t, 3> items, group;
    } got;
    got = {};
    Functions watched = library();
    watched.EnqueueNDRangeKernel = [](cl_command_queue, cl_kernel, cl_uint dimensions, const size_t *, const size_t *items,
                                      const size_t *group, cl_uint, const cl_event *, cl_event *) {
        got.dimensions = dimensions;
        for (size_t i = 0; i < dimensions; ++i) got.items[i] = items[i], got.group[i] = group[i];
        return CL_SUCCESS;
    };
    DeviceKernels theirs(watched, context->context.get(), context->device, log());
    CopyByKernel copy(*context, theirs);
    hbf_launch launch = copy.launch();
    launch.groups[1] = 2, launch.groups[2] = 2;
    launch.group_size[0] = 8, launch.group_size[2] = 4;
    copy.start(launch);
    EXPECT_EQ(got.dimensions, 3u);
    EXPECT_EQ(got.items, (std::array<size_t, 3>{24, 2, 8}));
    EXPECT_EQ(got.group, (std::array<size_t, 3>{8, 1, 4}));
    copy.start(copy.launch());
    EXPECT_EQ(got.dimensions, 1u) << "as simple as it is";
}

TEST_F(Launch, WhatDoesNotFitIsRefusedWithTheFigures) {
    CopyByKernel copy(*context, *kernels);
    hbf_kernel_buffer ranges[2];
    const auto refused = [&](const std::function<void(hbf_launch &)> &spoil, const std::string &said) {
        hbf_launch launch = copy.launch();
        std::copy_n(launch.buffers, 2, ranges);
        launch.buffers = ranges;
        spoil(launch);
        const sdk::Failure failure = refusal([&] { copy.launcher().check(launch); });
        EXPECT_EQ(failure.status, HBF_INVALID) << said;
        EXPECT_NE(failure.message.find(said), std::string::npos) << failure.message;
    };
    refused([](hbf_launch &launch) { launch.kernel = 0; }, "0 is no kernel");
    refused([](hbf_launch &launch) { launch.kernel = UINT64_MAX; }, "is no kernel");
    refused([](hbf_launch &launch) { launch.kernel = DeviceKernels::largest_id() + 1; }, "is no kernel");
    refused([&](hbf_launch &launch) { launch.kernel = launch.kernel == 1 ? 2 : 1; },
            "is no kernel that this device has found");
    refused([](hbf_launch &launch) { launch.buffer_count = 1; }, "1 buffers, where it has 2");
    refused([](hbf_launch &launch) { launch.buffer_count = 3; }, "3 buffers, where it has 2");
    refused([](hbf_launch &launch) { launch.buffers = nullptr; }, "NULL");
    refused([](hbf_launch &launch) { launch.arguments = nullptr; }, "NULL");
    refused([](hbf_launch &launch) { launch.arguments_size = 16; }, "16 bytes of arguments, where it has 8");
    refused([&](hbf_launch &) { ranges[1].offset = 12; }, "buffer 1 has offset 12");
    refused([&](hbf_launch &) { ranges[0].size = 0; }, "buffer 0 has offset 64 and size 0");
    refused([&](hbf_launch &) { ranges[1].access = HBF_KERNEL_READS; }, "buffer 1 has access 1, where it needs 2");
    refused([&](hbf_launch &) { ranges[0].access = 0; }, "buffer 0 has access 0");
    refused([&](hbf_launch &) { ranges[0].access |= 8; }, "buffer 0 has access 9");
    for (size_t i = 0; i < 3; ++i) {
        const std::string dimension = "dimension " + std::to_string(i);
        refused([&](hbf_launch &launch) { launch.groups[i] = 0; }, dimension + " has 0 groups");
        refused([&](hbf_launch &launch) { launch.group_size[i] = 0; }, dimension);
        refused([&](hbf_launch &launch) { launch.group_size[i] = 257; }, "257 work-items in " + dimension);
        refused([&](hbf_launch &launch) { launch.group_size[i] = UINT32_MAX; }, dimension);
    }
    refused([](hbf_launch &launch) { launch.group_size[0] = 128, launch.group_size[1] = 2, launch.group_size[2] = 2; },
            "512 work-items in a group, where it takes 256 at most");
    EXPECT_TRUE(copy.copies(9)) << "and it works on";
}

// Each thread has its own queue. The runtime notices who sets parameters for another's launch; the results tell too.
TEST_F(Launch, ManyThreadsLaunchTheSameKernel) {
    behave("slow=30"); // all of them look for it before one has it
    std::array<std::thread, 4> threads;
    std::array<int, 4> wrong{};
    for (size_t i = 0; i < threads.size(); ++i)
        threads[i] = std::thread([&, i] {
            CopyByKernel copy(*context, *kernels); // all look for it at once, too
            for (uint64_t turn = 0; turn < 200; ++turn) wrong[i] += copy.copies(i << 32 | turn << 16) ? 0 : 1;
        });
    for (std::thread &thread : threads) thread.join();
    for (const int count : wrong) EXPECT_EQ(count, 0);
    EXPECT_EQ(builds(), "begun\nsource copy\n") << "who wants the same kernel waits for it";
}

TEST_F(Launch, TheDriversRefusalIsHandedOn) {
    CopyByKernel copy(*context, *kernels);
    for (const char *function : {"clSetKernelArg", "clEnqueueNDRangeKernel"}) {
        behave(std::string("fail=") + function + ":-5");
        const sdk::Failure failure = refusal([&] { copy.run(1); });
        EXPECT_NE(failure.message.find("CL_OUT_OF_RESOURCES (-5)"), std::string::npos) << function;
        behave("");
        EXPECT_TRUE(copy.copies(2)) << "an argument that was set is set again";
    }
}

// With a driver that does nothing: what is left is ours.
TEST_F(Launch, AWarmedLaunchAllocatesNothing) {
    Functions table = library();
    table.SetKernelArgSVMPointer = [](cl_kernel, cl_uint, const void *) { return CL_SUCCESS; };
    table.SetKernelArg = [](cl_kernel, cl_uint, size_t, const void *) { return CL_SUCCESS; };
    table.EnqueueNDRangeKernel = [](cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, const size_t *,
                                    cl_uint, const cl_event *, cl_event *) { return CL_SUCCESS; };
    DeviceKernels quiet(table, context->context.get(), context->device, log());
    CopyByKernel copy(*context, quiet);
    const hbf_launch launch = copy.launch();
    Launcher launcher(quiet);
    launcher.check(launch);
    int memory = 0;
    const LaunchPlace places[] = {{reinterpret_cast<cl_mem>(&memory), nullptr, 8}, {nullptr, &memory, 8}};
    const auto before = hbf::testing::allocations();
    for (int i = 0; i < 1000; ++i) {
        launcher.check(launch);
        ASSERT_EQ(launcher.start(nullptr, launch, places, 0, nullptr, nullptr), CL_SUCCESS);
    }
    EXPECT_EQ(hbf::testing::allocations(), before);
}

} // namespace
} // namespace hbf::opencl
