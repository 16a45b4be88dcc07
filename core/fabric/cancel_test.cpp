// SPDX-License-Identifier: Apache-2.0
#include "core/fabric/testing/fixture.hpp"

namespace hbf::testing {
namespace {

class Cancel : public FabricTest {
protected:
    Device device = open();
    RegionInfo a = must(device.allocate(dram, granule)), b = must(device.allocate(dram, granule)),
               c = must(device.allocate(dram, granule));
    Queue queue = must(device.create_queue());
    void SetUp() override {
        script.manual = true;
        write(a, 0, 64, 1);
    }
    void TearDown() override { script.manual = other_script.manual = false; }
};

TEST_F(Cancel, WhatHasNotRunIsTakenOutAndCompletesInItsTurn) {
    must(queue.submit(copy(b, a, 64)));
    must(queue.submit(copy(c, a, 64)));
    must(queue.cancel(2));
    must(queue.cancel(2));
    EXPECT_EQ(queue.completed(), 0u) << "not before its turn";
    script.run();
    EXPECT_EQ(must(queue.wait(1)).code, Code::ok);
    EXPECT_EQ(code_of(queue.wait(2)), Code::cancelled);
    EXPECT_EQ(script.copies, 1u);
    must(queue.poisoned());
    must(queue.submit(copy(c, a, 64)));
    script.run();
    EXPECT_EQ(must(queue.wait(3)).code, Code::ok) << "a cancelled value poisons nothing";
}

TEST_F(Cancel, WhatRunsAlreadyIsFinishedAndDiscarded) {
    script.cancel_works = false;
    must(queue.submit(copy(b, a, 64)));
    must(queue.cancel(1));
    EXPECT_EQ(code_of(device.free(b.region)), Code::busy) << "the device still writes there";
    script.run();
    EXPECT_EQ(code_of(queue.wait(1)), Code::cancelled);
    EXPECT_EQ(script.copies, 1u);
    must(device.free(b.region));
}

TEST_F(Cancel, AFailureOfCancelledWorkIsDiscardedButWhatTheDeviceThenRefusesIsNot) {
    script.cancel_works = false;
    must(queue.submit(copy(b, a, 64)));
    must(queue.submit(copy(c, a, 64)));
    must(queue.cancel(1));
    script.fail_copy = 1;
    script.run();
    EXPECT_EQ(code_of(queue.wait(1)), Code::cancelled);
    // The device's own queue is poisoned from value 1 on, so value 2 never ran.
    EXPECT_EQ(code_of(queue.wait(2)), Code::internal);
    EXPECT_EQ(script.copies, 1u);
    EXPECT_EQ(code_of(queue.poisoned()), Code::internal);
}

TEST_F(Cancel, ACompletedValueCannotBeCancelled) {
    script.manual = false;
    must(queue.wait(must(queue.submit(copy(b, a, 64))).value));
    EXPECT_EQ(code_of(queue.cancel(1)), Code::invalid);
    EXPECT_EQ(must(queue.wait(1)).code, Code::ok);
}

TEST_F(Cancel, WaitersOfACancelledValueFailAsCancelled) {
    Queue waiter = must(device.create_queue());
    must(queue.submit(copy(b, a, 64)));
    Batch batch;
    batch.wait({queue.id(), 1}).copy(c.region, 0, b.region, 0, 64);
    must(waiter.submit(batch));
    must(waiter.submit(copy(c, a, 64)));
    must(queue.cancel(1));
    script.run();
    const auto outcome = waiter.wait(1);
    ASSERT_EQ(code_of(outcome), Code::cancelled);
    EXPECT_TRUE(contains(outcome.error().message, "waited for")) << outcome.error().message;
    EXPECT_EQ(code_of(waiter.wait(2)), Code::cancelled) << "what follows would have read what was never written";
    EXPECT_EQ(code_of(waiter.poisoned()), Code::cancelled);
    must(queue.poisoned());
}

TEST_F(Cancel, AHeldBatchNeverReachesTheDevice) {
    Device other = open("b");
    Queue there = must(other.create_queue());
    other_script.manual = true;
    must(there.submit(Batch()));
    Batch batch;
    batch.wait({there.id(), 1}).copy(b.region, 0, a.region, 0, 64);
    must(queue.submit(batch));
    must(queue.submit(copy(c, a, 64))); // behind it
    script.manual = false;
    must(queue.cancel(1));
    EXPECT_EQ(code_of(queue.wait(1)), Code::cancelled) << "held back: nothing else to wait for";
    EXPECT_EQ(must(queue.wait(2)).code, Code::ok);
    EXPECT_EQ(script.copies, 1u);
    other_script.manual = false;
}

TEST_F(Cancel, ACancelledValueIsKnownWhenItsQueueIsGoneAndItsRecordToo) {
    Device other = open("b");
    Queue there = must(other.create_queue()), waiter = must(device.create_queue());
    const uint32_t number = queue.id();
    must(queue.submit(copy(b, a, 64)));
    must(queue.cancel(1));
    script.manual = false;
    for (int i = 0; i < 400; ++i) must(queue.wait(must(queue.submit(Batch())).value)); // more than records are kept of
    other_script.manual = true;
    must(there.submit(Batch()));
    Batch batch;
    batch.wait({there.id(), 1}).wait({number, 1}).copy(c.region, 0, b.region, 0, 64);
    must(waiter.submit(batch));
    queue = Queue();
    other_script.manual = false;
    EXPECT_EQ(code_of(waiter.wait(1)), Code::cancelled) << "it would copy what was never written";
    Queue late = must(device.create_queue());
    must(late.submit(batch));
    EXPECT_EQ(code_of(late.wait(1)), Code::cancelled);
}

} // namespace
} // namespace hbf::testing
