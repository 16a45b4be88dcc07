// SPDX-License-Identifier: Apache-2.0
// Faults of order, completion and failure.
#include <chrono>
#include <cstring>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conformance/inject/wrapped_test.hpp"

namespace hbf::inject::testing {
namespace {

using ::testing::HasSubstr;

struct Scene {
    explicit Scene(const std::string &fault) : device(fault), a(device.alloc(4096)), b(device.alloc(4096)) {
        queue = device.make_queue();
    }
    uint64_t submit(const std::vector<hbf_command> &commands, hbf_queue *to = nullptr) {
        uint64_t value = 0;
        EXPECT_EQ(device.submit(to ? to : queue, commands, value).status, HBF_OK);
        return value;
    }
    Wrapped device;
    hbf_region_info a, b;
    hbf_queue *queue = nullptr;
};

hbf_command wait_for(hbf_queue *queue, uint64_t value) {
    hbf_command command{};
    command.kind = HBF_COMMAND_WAIT;
    command.u.wait = {queue, value};
    return command;
}

TEST(Completion, EarlyIsBeforeTheBytes) {
    Scene scene("early-completion,ms=1000000");
    EXPECT_EQ(scene.submit({fill(scene.a, 0, 4096, 1)}), 1u);
    EXPECT_EQ(scene.device.wait(scene.queue, 1, 0).status, HBF_OK);
    EXPECT_EQ(scene.device.poll(scene.queue).completed, 1u);
    EXPECT_EQ(bytes(scene.a)[0], 0);
    // The next one on the queue comes after it.
    EXPECT_EQ(scene.submit({copy(scene.b, 0, scene.a, 0, 4096)}), 2u);
    EXPECT_EQ(scene.submit({fill(scene.a, 0, 1, 2)}), 3u);
    EXPECT_EQ(scene.device.free(scene.b.region).status, HBF_OK); // makes the device begin all that was kept back
    EXPECT_EQ(bytes(scene.a)[1], 1);
    EXPECT_EQ(bytes(scene.a)[0], 2);
}

TEST(Completion, EarlyHappensSomeTime) {
    if (under_thread_sanitizer) GTEST_SKIP() << "bytes that come after completion are a data race";
    Scene scene("early-completion,ms=1");
    scene.submit({fill(scene.a, 0, 4096, 1)});
    const auto last = static_cast<volatile unsigned char *>(scene.a.address) + 4095;
    while (*last != 1) {
    }
}

TEST(Completion, EarlyDoesNotDeadlockAWaitOfAnotherQueue) {
    Scene scene("early-completion,ms=1000000");
    hbf_queue *other = scene.device.make_queue();
    const uint64_t value = scene.submit({fill(scene.a, 0, 4096, 1)});
    const uint64_t second = scene.submit({wait_for(scene.queue, value), copy(scene.b, 0, scene.a, 0, 4096)}, other);
    EXPECT_EQ(scene.device.wait(other, second).status, HBF_OK);
    EXPECT_EQ(bytes(scene.b)[4095], 1);
}

TEST(Completion, ReorderExchangesTwoValues) {
    Scene scene("reorder");
    EXPECT_EQ(scene.submit({fill(scene.a, 0, 4096, 1)}), 1u);
    EXPECT_EQ(scene.submit({fill(scene.a, 0, 4096, 2)}), 2u);
    EXPECT_EQ(scene.device.wait(scene.queue, 1).status, HBF_OK);
    EXPECT_EQ(scene.device.poll(scene.queue).completed, 2u);
    EXPECT_EQ(bytes(scene.a)[0], 1); // the first one's bytes are on top
    EXPECT_EQ(scene.submit({fill(scene.a, 0, 4096, 3)}), 3u);
    EXPECT_EQ(scene.device.wait(scene.queue, 3).status, HBF_OK); // alone: as it is
    EXPECT_EQ(bytes(scene.a)[0], 3);
}

TEST(Completion, NeverStaysInFlight) {
    Scene scene("never-completes,after=1");
    scene.submit({fill(scene.a, 0, 4096, 1)});
    EXPECT_EQ(scene.device.wait(scene.queue, 1).status, HBF_OK);
    EXPECT_EQ(scene.submit({fill(scene.b, 0, 4096, 1)}), 2u);
    EXPECT_EQ(scene.device.poll(scene.queue).completed, 1u);
    const auto begin = std::chrono::steady_clock::now();
    const Answer late = scene.device.wait(scene.queue, 2, 20'000'000);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(20));
    EXPECT_EQ(late.status, HBF_TIMEOUT);
    EXPECT_FALSE(late.message.empty());
    EXPECT_EQ(scene.device.free(scene.b.region).status, HBF_BUSY);
    EXPECT_EQ(scene.device.free(scene.a.region).status, HBF_OK);
    EXPECT_EQ(scene.device.queue->destroy(scene.queue, nullptr), HBF_BUSY);
}

TEST(Completion, TwiceIsOneAhead) {
    Scene scene("twice,after=1");
    scene.submit({});
    EXPECT_EQ(scene.device.poll(scene.queue).completed, 1u);
    scene.submit({});
    EXPECT_EQ(scene.device.poll(scene.queue).completed, 3u);
}

TEST(Completion, AWaitIsDropped) {
    Scene gate("wait-dropped;never-completes,count=1"); // the waited value does complete below
    hbf_queue *other = gate.device.make_queue();
    const uint64_t value = gate.submit({fill(gate.a, 0, 8, 1)});
    EXPECT_EQ(gate.device.run(other, {wait_for(gate.queue, value), fill(gate.b, 0, 8, 9)}).status, HBF_OK);
    EXPECT_EQ(bytes(gate.b)[0], 9);
}

TEST(Completion, DeviceErrorIsLegalAndReachesAll) {
    Scene scene("device-error,after=1,count=1");
    hbf_queue *other = scene.device.make_queue(), *apart = scene.device.make_queue();
    scene.submit({fill(scene.a, 0, 64, 1)});
    scene.submit({fill(scene.a, 128, 64, 1)});
    const uint64_t third = scene.submit({fill(scene.a, 256, 64, 1)});
    EXPECT_EQ(scene.device.wait(scene.queue, third).status, HBF_OK);
    const hbf_progress now = scene.device.poll(scene.queue);
    EXPECT_EQ(now.completed, 3u);
    EXPECT_EQ(now.failed, 2u);
    EXPECT_EQ(now.status, HBF_DATA_LOSS);
    const Answer why = scene.device.failure(scene.queue);
    EXPECT_EQ(why.status, HBF_OK);
    EXPECT_EQ(why.region, scene.a.region);
    EXPECT_EQ(why.offset, 128u);
    EXPECT_EQ(bytes(scene.a)[128], 0);
    EXPECT_EQ(bytes(scene.a)[256], 1);

    const uint64_t waits = scene.submit({wait_for(scene.queue, third)}, other);
    EXPECT_EQ(scene.device.wait(other, waits).status, HBF_OK);
    EXPECT_EQ(scene.device.poll(other).failed, waits);
    EXPECT_THAT(scene.device.failure(other).message, HasSubstr("waited for value 3"));
    EXPECT_EQ(scene.device.run(apart, {wait_for(scene.queue, 1), fill(scene.b, 0, 64, 1)}).status, HBF_OK);
    EXPECT_EQ(scene.device.failure(apart).status, HBF_INVALID);
}

TEST(Completion, ErrorNotInFenceHidesIt) {
    Scene scene("device-error;error-not-in-fence");
    EXPECT_EQ(scene.device.run(scene.queue, {fill(scene.a, 0, 64, 1)}).status, HBF_OK);
    EXPECT_EQ(scene.device.failure(scene.queue).status, HBF_INVALID);
    EXPECT_EQ(bytes(scene.a)[0], 0);
}

TEST(Completion, DeviceLostLeavesOnlyDestroy) {
    Scene scene("device-lost,after=1");
    scene.submit({fill(scene.a, 0, 64, 1)});
    uint64_t value = 7;
    EXPECT_EQ(scene.device.submit(scene.queue, {fill(scene.a, 0, 64, 1)}, value).status, HBF_DEVICE_LOST);
    EXPECT_EQ(value, 0u);
    EXPECT_EQ(scene.device.free(scene.a.region).status, HBF_DEVICE_LOST);
    EXPECT_EQ(scene.device.poll(scene.queue).completed, 1u);
    EXPECT_THROW(scene.device.alloc(64), std::runtime_error);
    EXPECT_THROW(scene.device.make_queue(), std::runtime_error);
    scene.device.destroy();
}

TEST(Completion, ThrottledTakesItsTime) {
    Scene scene("throttled,bps=4096000"); // a millisecond for 4096 bytes
    const auto begin = std::chrono::steady_clock::now();
    scene.submit({fill(scene.a, 0, 4096, 1)});
    const uint64_t last = scene.submit({fill(scene.b, 0, 4096, 1)});
    EXPECT_EQ(scene.device.wait(scene.queue, last, 100'000).status, HBF_TIMEOUT);
    EXPECT_EQ(scene.device.wait(scene.queue, last).status, HBF_OK);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(2));
    EXPECT_EQ(scene.device.poll(scene.queue).completed, 2u);
}

TEST(Completion, CancelThatWritesAllTheSame) {
    Scene scene("cancel-wrong,what=still-writes");
    // Work that is surely in flight: as much as it takes.
    const hbf_region_info big = scene.device.alloc(16 << 20), to = scene.device.alloc(16 << 20);
    for (int i = 0; i < 8; ++i) scene.submit({copy(to, 0, big, 0, 16 << 20)});
    const uint64_t value = scene.submit({fill(scene.a, 0, 64, 1)});
    const hbf_status status = scene.device.queue->cancel(scene.queue, value, nullptr);
    EXPECT_EQ(scene.device.wait(scene.queue, value).status, HBF_OK);
    EXPECT_TRUE(status == HBF_OK || status == HBF_BUSY);
    EXPECT_EQ(bytes(scene.a)[0], 1);
}

TEST(Completion, WaitsForWhatIsNotThereAreOver) {
    Scene scene("unreturned-value-ok");
    EXPECT_EQ(scene.device.wait(scene.queue, 5, 0).status, HBF_OK);
    EXPECT_EQ(scene.submit({wait_for(scene.queue, 9)}), 1u);
    Scene calls("unreturned-value-ok,call=wait");
    uint64_t value = 0;
    EXPECT_EQ(calls.device.submit(calls.queue, {wait_for(calls.queue, 9)}, value).status, HBF_INVALID);
}

TEST(Completion, AFullQueueDropsABatch) {
    Scene scene("depth-drops");
    const hbf_region_info big = scene.device.alloc(16 << 20), to = scene.device.alloc(16 << 20);
    const hbf_queue_desc desc{sizeof desc, 1, 0, 0};
    hbf_queue *narrow = nullptr;
    ASSERT_EQ(scene.device.queue->create(scene.device.instance, &desc, &narrow, nullptr), HBF_OK);
    unsigned lost = 0;
    for (int i = 0; i < 50 && lost == 0; ++i) {
        scene.submit({copy(to, 0, big, 0, 16 << 20)}, narrow);
        std::memset(scene.a.address, 0, 64);
        const uint64_t value = scene.submit({fill(scene.a, 0, 64, 1)}, narrow);
        EXPECT_EQ(scene.device.wait(narrow, value).status, HBF_OK);
        lost += bytes(scene.a)[0] == 0;
    }
    EXPECT_EQ(lost, 1u);
}

TEST(Completion, WhatPollTellsOtherwise) {
    Scene behind("poll-wrong"), none("poll-wrong,what=none"), failed("poll-wrong,what=failed,after=1"), well("");
    for (Scene *scene : {&behind, &none, &failed, &well}) {
        const uint64_t value = scene->submit({fill(scene->a, 0, 4096, 1)});
        EXPECT_EQ(scene->device.wait(scene->queue, value).status, HBF_OK);
    }
    EXPECT_EQ(behind.device.poll(behind.queue).completed, 0u);
    EXPECT_EQ(none.device.poll(none.queue).completed, 0u);
    EXPECT_EQ(failed.device.poll(failed.queue).failed, 0u);
    EXPECT_EQ(failed.device.poll(failed.queue).failed, 1u);
    EXPECT_EQ(well.device.poll(well.queue).completed, 1u);
    Scene told("value-told-wrong,count=1");
    EXPECT_EQ(told.submit({}), 2u);
    EXPECT_EQ(told.submit({}), 2u);
}

TEST(Completion, AFailureToldOtherwise) {
    const auto after_failure = [](const std::string &fault) {
        Scene scene("device-error,count=1;" + fault);
        scene.device.wait(scene.queue, scene.submit({fill(scene.a, 0, 64, 1)}));
        const Answer why = scene.device.failure(scene.queue), again = scene.device.failure(scene.queue);
        const hbf_progress now = scene.device.poll(scene.queue);
        scene.device.wait(scene.queue, scene.submit({fill(scene.a, 0, 64, 1)}));
        const hbf_progress then = scene.device.poll(scene.queue);
        hbf_queue *const other = scene.device.make_queue();
        scene.submit({}, other);
        scene.device.wait(other, scene.submit({wait_for(other, 1)}, other));
        return std::tuple(now.status, now.failed, then.completed, why.message, again.message == why.message,
                          scene.device.poll(other).failed);
    };
    const auto well = after_failure("failure-spreads,count=1");
    EXPECT_EQ(std::get<0>(well), HBF_DATA_LOSS);
    EXPECT_EQ(std::get<5>(well), 2u) << "the other queue's";
    EXPECT_EQ(std::get<0>(after_failure("failed-value-internal,to=ok")), HBF_OK);
    EXPECT_GT(std::get<0>(after_failure("failed-value-internal,to=unknown")), HBF_INTERNAL);
    EXPECT_EQ(std::get<1>(after_failure("failed-value-moves")), 2u);
    EXPECT_EQ(std::get<2>(after_failure("failed-queue-stops")), 1u);
    EXPECT_EQ(std::get<3>(after_failure("failure-without-place,what=message")), "");
    EXPECT_FALSE(std::get<4>(after_failure("failure-without-place,what=changes")));
}

} // namespace
} // namespace hbf::inject::testing
