// SPDX-License-Identifier: Apache-2.0
// An opened device that runs out of something, refuses, or goes away: what the host is told, and that nothing is lost.
#include <gtest/gtest.h>

#include "core/fabric/testing/allocations.hpp"
#include "plugins/opencl/instance.hpp"
#include "plugins/opencl/tests/fake/fixture.hpp"

namespace hbf::opencl {
namespace {

constexpr uint64_t mebibyte = 1 << 20;

class FakeDevice : public OnFake {
protected:
    // With what was set by behave().
    void open() { instance = std::make_unique<OpenClInstance>(first_device(), OpenClOptions{}, log()); }

    hbf_region allocate(uint64_t size) {
        sdk::AllocRequest request;
        request.size = size;
        return instance->alloc(request).region;
    }
    uint64_t available() {
        hbf_tier_info info{};
        instance->describe_tier(0, info);
        return info.available;
    }
    static uint64_t submit(sdk::Queue &queue, const hbf_command *commands, size_t count) {
        const hbf_batch batch{sizeof batch, sizeof *commands, commands, count};
        return queue.submit(sdk::BatchView(batch));
    }
    static hbf_command copy(hbf_region dst, hbf_region src) {
        hbf_command command{};
        command.kind = HBF_COMMAND_COPY;
        command.u.copy = {dst, 0, src, 0, 4096, nullptr};
        return command;
    }
    static uint64_t submit_copies(sdk::Queue &queue, hbf_region dst, hbf_region src, size_t count = 1) {
        const std::vector<hbf_command> commands(count, copy(dst, src));
        return submit(queue, commands.data(), count);
    }
    void expect_lost(const std::string &how, const std::string &name) {
        open();
        const hbf_region a = allocate(mebibyte), b = allocate(mebibyte);
        const auto queue = instance->create_queue({});
        ASSERT_TRUE(queue->wait(submit_copies(*queue, a, b), UINT64_MAX));
        EXPECT_EQ(queue->poll().failed, 0u);
        behave(how);
        const uint64_t value = submit_copies(*queue, a, b, 2);
        ASSERT_TRUE(queue->wait(value, UINT64_MAX));
        EXPECT_EQ(queue->poll().failed, value);
        EXPECT_EQ(queue->poll().status, HBF_DEVICE_LOST) << name;
        const auto failure = queue->failure();
        ASSERT_TRUE(failure);
        EXPECT_NE(failure->message.find(name), std::string::npos) << failure->message;
        EXPECT_EQ(failure->region, a) << "the place";
        behave("fail=clEnqueueCopyBuffer:-5");
        EXPECT_EQ(refusal([&] { submit_copies(*queue, a, b); }).status, HBF_DEVICE_LOST) << "not: wait for room";
        behave(""); // what comes later on this queue fails too, even if the device is back
        const uint64_t later = submit_copies(*queue, a, b);
        ASSERT_TRUE(queue->wait(later, UINT64_MAX));
        EXPECT_EQ(queue->poll().failed, value);
        EXPECT_EQ(queue->poll().completed, later);
        EXPECT_TRUE(queue->idle());
        instance->free(a); // in nobody's use
        instance->free(b);
    }

    std::unique_ptr<OpenClInstance> instance;
};

TEST_F(FakeDevice, ADeviceThatDisappearsIsLost) {
    expect_lost("lost=-2:1", "CL_DEVICE_NOT_AVAILABLE (-2)");
}

TEST_F(FakeDevice, ACommandThatEndsWithoutResourcesLosesTheDevice) {
    expect_lost("lost=-5:2", "CL_OUT_OF_RESOURCES (-5)");
}

TEST_F(FakeDevice, ARefusalBeforeAnythingBeganIsTheSubmits) {
    open();
    const hbf_region a = allocate(mebibyte), b = allocate(mebibyte);
    const auto queue = instance->create_queue({});
    behave("fail=clEnqueueCopyBuffer:-2");
    const sdk::Failure failure = refusal([&] { submit_copies(*queue, a, b); });
    EXPECT_EQ(failure.status, HBF_DEVICE_LOST);
    EXPECT_NE(failure.message.find("CL_DEVICE_NOT_AVAILABLE (-2)"), std::string::npos) << failure.message;
    behave("fail=clEnqueueCopyBuffer:-4");
    EXPECT_EQ(refusal([&] { submit_copies(*queue, a, b); }).status, HBF_EXHAUSTED);
    behave("");
    EXPECT_EQ(submit_copies(*queue, a, b), 1u) << "no value was spent";
    EXPECT_TRUE(queue->wait(1, UINT64_MAX));
    EXPECT_EQ(queue->poll().failed, 0u);
    instance->free(a);
    instance->free(b);
}

TEST_F(FakeDevice, ARefusalInTheMiddleFailsTheValue) {
    open();
    const hbf_region a = allocate(mebibyte), b = allocate(mebibyte);
    const auto queue = instance->create_queue({});
    behave("fail=clEnqueueCopyBuffer:-5:2");
    const uint64_t value = submit_copies(*queue, a, b, 3);
    ASSERT_TRUE(queue->wait(value, UINT64_MAX));
    EXPECT_EQ(queue->poll().failed, value);
    EXPECT_NE(queue->failure()->message.find("command 1"), std::string::npos) << queue->failure()->message;
    instance->free(a);
    instance->free(b);
}

TEST_F(FakeDevice, MoreThanTheDeviceTakesInOnePieceIsRefusedWithBothFigures) {
    behave("memory=67108864;largest=2097152");
    open();
    const uint64_t before = available();
    const sdk::Failure failure = refusal([&] { allocate(2 * mebibyte + 1); });
    EXPECT_EQ(failure.status, HBF_EXHAUSTED);
    EXPECT_NE(failure.message.find("2097153"), std::string::npos) << failure.message;
    EXPECT_NE(failure.message.find("2097152"), std::string::npos) << failure.message;
    EXPECT_EQ(available(), before);
    instance->free(allocate(2 * mebibyte));
}

TEST_F(FakeDevice, MemoryThatRunsOutIsExhaustedAndNothingIsLost) {
    open();
    const uint64_t before = available();
    for (const char *how : {"fail=clCreateBuffer:-4", "fail=clEnqueueFillBuffer:-5", "fail=clFinish:-6"}) {
        behave(how);
        EXPECT_EQ(refusal([&] { allocate(mebibyte); }).status, HBF_EXHAUSTED) << how;
        EXPECT_EQ(available(), before) << how;
    }
    behave("");
    instance->free(allocate(mebibyte));
}

// Every kind of command.
TEST_F(FakeDevice, AWarmedSubmitPollAndWaitAllocateNothing) {
    open();
    const hbf_region a = allocate(mebibyte), b = allocate(mebibyte);
    const auto queue = instance->create_queue({});
    const uint64_t size = 4096;
    const hbf_kernel_buffer ranges[] = {{a, 0, size, HBF_KERNEL_READS, 0}, {b, 8, size, HBF_KERNEL_WRITES, 0}};
    hbf_command commands[4] = {copy(a, b), {}, {}, {}};
    commands[1].kind = HBF_COMMAND_WAIT;
    commands[2].kind = HBF_COMMAND_FILL;
    commands[2].u.fill = {a, 3, 1001, 0x0102030405060708, 8, 0};
    commands[3].kind = HBF_COMMAND_LAUNCH;
    commands[3].u.launch = {find(static_cast<DeviceKernels &>(*instance->kernels()), "copy/1").kernel,
                            ranges,
                            2,
                            &size,
                            sizeof size,
                            {2, 1, 1},
                            {8, 1, 1}};
    const auto turn = [&] {
        const uint64_t value = submit(*queue, commands, 4);
        return queue->wait(value, UINT64_MAX) && queue->poll().failed == 0;
    };
    ASSERT_TRUE(turn());
    hbf_fake_opencl_meter(hbf::testing::allocations);
    const uint64_t before = hbf::testing::allocations() - hbf_fake_opencl_own();
    bool good = true;
    for (int i = 0; i < 200; ++i) good = good && turn();
    EXPECT_EQ(hbf::testing::allocations() - hbf_fake_opencl_own(), before);
    hbf_fake_opencl_meter(nullptr);
    EXPECT_TRUE(good);
    instance->free(a);
    instance->free(b);
}

TEST_F(FakeDevice, WithoutACompilerItHasNoKernels) {
    behave("compiler=0");
    open();
    EXPECT_EQ(instance->kernels(), nullptr);
    EXPECT_EQ(instance->queue_info().capabilities & HBF_QUEUE_CAP_LAUNCH, 0u);
    EXPECT_NE(logged().find("CL_DEVICE_COMPILER_AVAILABLE"), std::string::npos) << logged();
}

TEST_F(FakeDevice, AQueueThatCannotBeMadeLeavesNothing) {
    open();
    for (const char *function : {"clCreateCommandQueue", "clCreateBuffer"}) {
        behave(std::string("fail=") + function + ":-6");
        EXPECT_EQ(refusal([&] { instance->create_queue({}); }).status, HBF_EXHAUSTED) << function;
    }
}

} // namespace
} // namespace hbf::opencl
