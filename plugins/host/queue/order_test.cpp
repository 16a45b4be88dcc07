// SPDX-License-Identifier: Apache-2.0
// The timeline: order, barriers, waits, poison, cancel, deadlines.
#include "queue_test.hpp"

namespace hbf::host::testing {
namespace {

constexpr uint64_t ms = 1'000'000;

class Order : public QueueTest {
protected:
    IoResult broken(hbf_status status, const char *message) {
        IoResult result;
        result.status = status, result.message = message, result.offset = 5;
        return result;
    }
    hbf_region a_ = memory(1 << 16), b_ = memory(1 << 16, 1), f_ = file(1 << 16, 2);
};

TEST_F(Order, ValuesCountFromOneAndAnEmptyBatchIsOne) {
    TestQueue &queue = this->queue();
    EXPECT_TRUE(queue.idle());
    for (uint64_t value = 1; value < 300; ++value) {
        ASSERT_EQ(queue.submit({}).value, value);
        ASSERT_EQ(queue.poll().completed, value) << "nothing was pending: it runs at once";
    }
    EXPECT_EQ(queue.failure().status, HBF_INVALID) << "nothing failed";
}

TEST_F(Order, AGranuleRunsInsideSubmit) {
    TestQueue &queue = this->queue();
    ASSERT_EQ(queue.submit({copy_command(a_, 0, b_, 0, 1 << 16)}).value, 1u);
    EXPECT_EQ(memcmp(at(a_), at(b_), 1 << 16), 0) << "before anyone polls";
    EXPECT_EQ(queue.poll().completed, 1u);
}

TEST_F(Order, WaitWithADeadlineLeavesTheWorkPendingAndItsRegionsBusy) {
    const Gate gate = this->gate();
    TestQueue &queue = this->queue();
    const uint64_t value =
        queue.submit({wait_command(gate.queue->handle(), gate.value), copy_command(a_, 0, b_, 0, 64)}).value;
    EXPECT_EQ(queue.wait(value, 0).status, HBF_TIMEOUT);
    EXPECT_EQ(queue.wait(value, 2 * ms).status, HBF_TIMEOUT);
    EXPECT_EQ(gate.queue->wait(gate.value, 2 * ms).status, HBF_TIMEOUT);
    EXPECT_EQ(queue.poll().completed, 0u);
    EXPECT_FALSE(queue.idle());
    try {
        (void)regions_.take(a_);
        ADD_FAILURE() << "freed while a command names it";
    } catch (const sdk::Failure &failure) {
        EXPECT_EQ(failure.status, HBF_BUSY);
    }
    open();
    EXPECT_EQ(queue.wait(value).status, HBF_OK);
    EXPECT_EQ(memcmp(at(a_), at(b_), 64), 0);
    EXPECT_NO_THROW((void)regions_.take(a_));
}

TEST_F(Order, AWaitForAnotherQueueHoldsBackWhatFollowsButNotWhatPrecedes) {
    const Gate gate = this->gate();
    TestQueue &queue = this->queue();
    const uint64_t value = queue
                               .submit({copy_command(a_, 0, b_, 0, 64), wait_command(gate.queue->handle(), gate.value),
                                        copy_command(a_, 64, b_, 64, 64)})
                               .value;
    EXPECT_EQ(memcmp(at(a_), at(b_), 64), 0);
    EXPECT_NE(memcmp(at(a_, 64), at(b_, 64), 64), 0);
    open();
    EXPECT_EQ(queue.wait(value).status, HBF_OK) << "and nobody drove the other queue but this one's wait";
    EXPECT_EQ(memcmp(at(a_), at(b_), 128), 0);
    EXPECT_EQ(gate.queue->poll().completed, gate.value);
}

TEST_F(Order, WorkersGoOnWithoutAWaiter) {
    const Gate gate = this->gate();
    TestQueue &queue = this->queue();
    (void)queue.submit({wait_command(gate.queue->handle(), gate.value), copy_command(a_, 0, b_, 0, 64)});
    open();
    while (queue.poll().completed == 0) std::this_thread::yield();
    EXPECT_EQ(memcmp(at(a_), at(b_), 64), 0);
}

TEST_F(Order, ChainsOfWaitsThroughManyQueues) {
    const Gate gate = this->gate();
    hbf_queue *before = gate.queue->handle();
    uint64_t value = gate.value;
    TestQueue *last = nullptr;
    for (uint8_t i = 0; i < 20; ++i) {
        last = &queue();
        value = last->submit({wait_command(before, value), fill_command(a_, 0, 64, i, 1)}).value;
        before = last->handle();
    }
    open();
    EXPECT_EQ(last->wait(value).status, HBF_OK);
    EXPECT_EQ(static_cast<int>(*at(a_)), 19);
}

TEST_F(Order, AQueueMayEndWhileAnotherStillNamesItsValue) {
    const Gate gate = this->gate();
    TestQueue &queue = this->queue();
    auto other = std::make_unique<TestQueue>(regions_, nullptr, workers_);
    const uint64_t named = other->submit({fill_command(b_, 0, 64, 7, 1)}).value;
    const uint64_t value = queue
                               .submit({wait_command(gate.queue->handle(), gate.value), wait_command(other->handle(), named),
                                        copy_command(a_, 0, b_, 0, 64)})
                               .value;
    other.reset();
    open();
    EXPECT_EQ(queue.wait(value).status, HBF_OK);
    EXPECT_EQ(static_cast<int>(*at(a_)), 7);
}

TEST_F(Order, ABarrierOrdersInsideABatch) {
    storage_.control.newest_first = true;
    TestQueue &queue = this->queue();
    for (int round = 0; round < 50; ++round)
        queue.run({copy_command(f_, 0, b_, 0, 4096), wait_command(), copy_command(a_, 0, f_, 0, 4096), wait_command(),
                   fill_command(f_, 0, 4096, 0, 1), wait_command(), copy_command(b_, 4096, f_, 0, 64)});
    EXPECT_EQ(memcmp(at(a_), at(b_), 4096), 0);
}

TEST_F(Order, AWaitForAnEarlierValueOfTheSameQueue) {
    storage_.control.hold(0);
    TestQueue &queue = this->queue();
    const uint64_t first = queue.submit({copy_command(a_, 0, f_, 0, 4096)}).value;
    const uint64_t second = queue.submit({wait_command(queue.handle(), first), fill_command(b_, 0, 64, 9, 1)}).value;
    EXPECT_EQ(queue.wait(second, ms).status, HBF_TIMEOUT);
    EXPECT_NE(static_cast<int>(*at(b_)), 9);
    open();
    EXPECT_EQ(queue.wait(second).status, HBF_OK);
    EXPECT_EQ(static_cast<int>(*at(b_)), 9);
}

TEST_F(Order, OneMoreThanTheDepthIsExhaustedAndNothingOfItIsLostOrBegun) {
    const Gate gate = this->gate();
    TestQueue &queue = this->queue({4, 8});
    for (uint64_t value = 1; value <= 4; ++value)
        ASSERT_EQ(queue.submit({wait_command(gate.queue->handle(), gate.value), fill_command(a_, value, 1, value, 1)}).value,
                  value);
    const Outcome outcome = queue.submit({fill_command(b_, 0, 64, 3, 1)});
    EXPECT_EQ(outcome.status, HBF_EXHAUSTED);
    EXPECT_THAT(outcome.message, HasSubstr("4 values"));
    open();
    ASSERT_EQ(queue.wait(4).status, HBF_OK);
    EXPECT_NE(static_cast<int>(*at(b_)), 3);
    for (int value = 1; value <= 4; ++value) EXPECT_EQ(static_cast<int>(*at(a_, static_cast<uint64_t>(value))), value);
    EXPECT_EQ(queue.submit({fill_command(b_, 0, 64, 3, 1)}).value, 5u);
}

TEST_F(Order, BatchesOfEverySizeShareTheCommandsMemoryWithoutTouchingEachOther) {
    TestQueue &queue = this->queue({5, 7});
    std::mt19937 random(1);
    uint64_t last = 0, commands = 0;
    for (int round = 0; round < 400; ++round) {
        storage_.control.hold(commands + random() % 12); // some finish, some do not
        std::vector<hbf_command> batch;
        for (uint64_t i = random() % 8; i > 0; --i)
            batch.push_back(copy_command(a_, (commands + i) % 1000 * 64, f_, (commands + i) % 1000 * 64, 64));
        const Outcome outcome = queue.submit(batch);
        if (outcome.status == HBF_EXHAUSTED) {
            open();
            ASSERT_EQ(queue.wait(last - random() % 4).status, HBF_OK);
            continue;
        }
        last = outcome.value, commands += batch.size();
    }
    open();
    ASSERT_EQ(queue.wait(last).status, HBF_OK);
    ASSERT_EQ(queue.poll().status, HBF_OK);
    EXPECT_EQ(memcmp(at(a_), stored(f_).data(), 1000 * 64), 0);
    EXPECT_EQ(storage_.control.finished, commands);
    EXPECT_NO_THROW((void)regions_.take(a_)) << "a pin was lost";
}

TEST_F(Order, AFailedValuePoisonsItsQueueAndKeepsItsReason) {
    storage_.control.fault = [&](const FakeIo &io) {
        return io.number == 1 ? broken(HBF_DATA_LOSS, "bad sector") : IoResult{};
    };
    TestQueue &queue = this->queue();
    ASSERT_EQ(queue.submit({copy_command(a_, 0, f_, 0, 4096)}).value, 1u);
    ASSERT_EQ(queue.submit({copy_command(a_, 4096, f_, 4096, 4096)}).value, 2u);
    ASSERT_EQ(queue.wait(2).status, HBF_OK) << "wait is OK also when the value failed: poll tells";
    ASSERT_EQ(queue.submit({fill_command(b_, 0, 64, 3, 1)}).value, 3u);
    ASSERT_EQ(queue.wait(3).status, HBF_OK);
    const hbf_progress progress = queue.poll();
    EXPECT_EQ(progress.completed, 3u);
    EXPECT_EQ(progress.failed, 2u);
    EXPECT_EQ(progress.status, HBF_DATA_LOSS);
    const Outcome failure = queue.failure();
    EXPECT_EQ(failure.message, "bad sector");
    EXPECT_EQ(failure.region, f_);
    EXPECT_EQ(failure.offset, 5u);
    EXPECT_NE(static_cast<int>(*at(b_)), 3) << "what follows a failed value must not run";
    EXPECT_EQ(memcmp(at(a_), stored(f_).data(), 4096), 0);
    EXPECT_TRUE(queue.idle());
}

TEST_F(Order, TheLowestFailedValueIsReportedEvenIfALaterOneFailedFirst) {
    storage_.control.newest_first = true;
    storage_.control.fault = [&](const FakeIo &io) {
        if (io.number == 1) return broken(HBF_DATA_LOSS, "the second value's");
        if (io.number == 3) return broken(HBF_DEVICE_LOST, "the fourth value's");
        return IoResult{};
    };
    storage_.control.hold(0);
    TestQueue &queue = this->queue();
    for (uint64_t i = 0; i < 5; ++i) ASSERT_EQ(queue.submit({copy_command(a_, i * 4096, f_, i * 4096, 4096)}).value, i + 1);
    open();
    ASSERT_EQ(queue.wait(5).status, HBF_OK);
    EXPECT_EQ(queue.poll().failed, 2u);
    EXPECT_EQ(queue.poll().status, HBF_DATA_LOSS);
    EXPECT_EQ(queue.failure().message, "the second value's");
}

TEST_F(Order, AFailureReachesThoseThatWaitedOnOtherQueues) {
    const Gate gate = this->gate();
    TestQueue &queue = this->queue(), &third = this->queue();
    const uint64_t value =
        queue.submit({wait_command(gate.queue->handle(), gate.value), copy_command(a_, 0, b_, 0, 64)}).value;
    const uint64_t last = third.submit({wait_command(queue.handle(), value)}).value;
    {
        std::lock_guard lock(storage_.control.mutex);
        storage_.control.fault = [&](const FakeIo &) { return broken(HBF_DEVICE_LOST, "unplugged"); };
    }
    open();
    ASSERT_EQ(third.wait(last).status, HBF_OK);
    for (TestQueue *waited : {&queue, &third}) {
        EXPECT_EQ(waited->poll().failed, 1u);
        EXPECT_EQ(waited->poll().status, HBF_DEVICE_LOST);
        EXPECT_THAT(waited->failure().message, HasSubstr("unplugged"));
    }
    EXPECT_NE(memcmp(at(a_), at(b_), 64), 0) << "the copy behind a failed wait must not run";
}

TEST_F(Order, CancelTakesOutWhatHasNotBegun) {
    const Gate gate = this->gate();
    TestQueue &queue = this->queue();
    const uint64_t first =
        queue.submit({wait_command(gate.queue->handle(), gate.value), fill_command(a_, 0, 1, 1, 1)}).value;
    const uint64_t second = queue.submit({fill_command(a_, 1, 1, 2, 1)}).value;
    const uint64_t third = queue.submit({fill_command(a_, 2, 1, 3, 1)}).value;
    EXPECT_EQ(queue.cancel(second).status, HBF_OK);
    EXPECT_EQ(queue.cancel(second).status, HBF_BUSY) << "once";
    EXPECT_EQ(queue.poll().completed, 0u) << "it completes in its turn";
    open();
    ASSERT_EQ(queue.wait(third).status, HBF_OK);
    EXPECT_EQ(queue.poll().status, HBF_OK);
    EXPECT_EQ(static_cast<int>(*at(a_, 0)), 1);
    EXPECT_EQ(static_cast<int>(*at(a_, 1)), 0) << "cancelled";
    EXPECT_EQ(static_cast<int>(*at(a_, 2)), 3);
    EXPECT_EQ(queue.cancel(first).status, HBF_BUSY) << "it ran";
    EXPECT_EQ(queue.cancel(99).status, HBF_INVALID);
}

TEST_F(Order, AValueHeldBackByAWaitCanBeCancelledAndLetsTheRestGo) {
    const Gate gate = this->gate();
    TestQueue &queue = this->queue();
    const uint64_t first =
        queue.submit({wait_command(gate.queue->handle(), gate.value), fill_command(a_, 0, 1, 1, 1)}).value;
    const uint64_t second = queue.submit({fill_command(a_, 1, 1, 2, 1)}).value;
    EXPECT_EQ(queue.cancel(first).status, HBF_OK);
    EXPECT_EQ(queue.wait(second).status, HBF_OK) << "although the gate is closed";
    EXPECT_EQ(static_cast<int>(*at(a_, 0)), 0);
    EXPECT_EQ(static_cast<int>(*at(a_, 1)), 2);
    open();
}

TEST_F(Order, WhatIsInFlightCannotBeCancelledAndItsResultArrives) {
    storage_.control.hold(0);
    TestQueue &queue = this->queue();
    const uint64_t value = queue.submit({copy_command(a_, 0, f_, 0, 4096)}).value;
    EXPECT_EQ(queue.cancel(value).status, HBF_BUSY);
    open();
    EXPECT_EQ(queue.wait(value).status, HBF_OK);
    EXPECT_EQ(memcmp(at(a_), stored(f_).data(), 4096), 0);
}

TEST_F(Order, FlushAndInvalidateAreOrderedCommands) {
    TestQueue &queue = this->queue();
    queue.run({copy_command(a_, 0, b_, 0, 64), wait_command(), range_command(HBF_COMMAND_FLUSH, a_, 0, 64),
               range_command(HBF_COMMAND_INVALIDATE, b_, 0, 64), range_command(HBF_COMMAND_FLUSH, f_, 0, 64)});
}

} // namespace
} // namespace hbf::host::testing
