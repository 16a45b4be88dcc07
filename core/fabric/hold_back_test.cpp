// SPDX-License-Identifier: Apache-2.0
// Waits across devices: the fabric holds the batch back.
#include <thread>

#include "core/fabric/testing/fixture.hpp"

namespace hbf::testing {
namespace {

class HoldBack : public FabricTest {
protected:
    Device here = open("a"), there = open("b");
    RegionInfo a = must(here.allocate(dram, granule)), b = must(here.allocate(dram, granule)),
               c = must(here.allocate(dram, granule)), far = must(there.allocate(dram, granule)),
               farther = must(there.allocate(dram, granule));
    Queue first = must(there.create_queue()), second = must(here.create_queue());
    void TearDown() override { script.manual = other_script.manual = false; }

    Batch waiting(const Queue &on, uint64_t value) {
        Batch batch;
        batch.wait({on.id(), value}).copy(b.region, 0, a.region, 0, 64);
        return batch;
    }
};

TEST_F(HoldBack, UntilThePointHasCompleted) {
    other_script.manual = true;
    must(first.submit(copy(farther, far, 64)));
    must(second.submit(waiting(first, 1)));
    must(second.submit(copy(c, a, 64)));
    EXPECT_EQ(code_of(second.wait(1, 5ms)), Code::timeout);
    EXPECT_EQ(script.copies, 0u) << "neither it nor what is behind it";
    EXPECT_EQ(code_of(here.free(a.region)), Code::busy);
    other_script.run();
    must(second.wait(2));
    EXPECT_EQ(script.copies, 2u);
}

TEST_F(HoldBack, MovesWithoutAnybodyPollingTheWaiter) {
    other_script.manual = true;
    must(first.submit(copy(farther, far, 64)));
    must(second.submit(waiting(first, 1)));
    other_script.run();
    for (int i = 0; i < 20'000 && script.copies == 0; ++i) std::this_thread::sleep_for(100us);
    EXPECT_EQ(script.copies, 1u) << "by the progress thread";
    must(second.wait(1));
}

TEST_F(HoldBack, APointThatFailsFailsTheWaiterWithItsReason) {
    other_script.manual = true;
    other_script.fail_copy = 1;
    must(first.submit(copy(farther, far, 64)));
    must(second.submit(waiting(first, 1)));
    must(second.submit(copy(c, a, 64)));
    other_script.run();
    const auto outcome = second.wait(1);
    ASSERT_EQ(code_of(outcome), Code::internal);
    EXPECT_TRUE(contains(outcome.error().message, "told to fail")) << outcome.error().message;
    EXPECT_EQ(code_of(second.wait(2)), Code::internal);
    EXPECT_EQ(script.copies, 0u);
    must(here.free(a.region));
}

TEST_F(HoldBack, APointThatHasFailedAlreadyFailsTheWaiter) {
    other_script.fail_copy = 1;
    must(first.submit(copy(farther, far, 64)));
    EXPECT_EQ(code_of(first.wait(1)), Code::internal);
    must(second.submit(waiting(first, 1)));
    EXPECT_EQ(code_of(second.wait(1)), Code::internal);
    EXPECT_EQ(script.copies, 0u);
}

TEST_F(HoldBack, APointThatHasCompletedHoldsNothing) {
    must(first.wait(must(first.submit(copy(farther, far, 64))).value));
    must(second.wait(must(second.submit(waiting(first, 1))).value));
    EXPECT_EQ(script.copies, 1u);
}

TEST_F(HoldBack, ChainsOverThreeQueues) {
    Queue third = must(there.create_queue());
    other_script.manual = true;
    must(first.submit(copy(farther, far, 64)));
    must(second.submit(waiting(first, 1)));
    Batch batch;
    batch.wait({second.id(), 1}).copy(farther.region, 64, far.region, 64, 64);
    must(third.submit(batch));
    EXPECT_EQ(code_of(third.wait(1, 3ms)), Code::timeout);
    other_script.manual = false;
    must(third.wait(1));
    EXPECT_EQ(other_script.copies, 2u);
}

TEST_F(HoldBack, AlsoWhatTheFabricRunsInSteps) {
    other_script.manual = true;
    must(first.submit(copy(farther, far, 64)));
    Batch batch;
    batch.wait({first.id(), 1}).copy(b.region, 0, a.region, 0, granule, Integrity::readback);
    must(second.submit(batch));
    EXPECT_EQ(code_of(second.wait(1, 3ms)), Code::timeout);
    EXPECT_EQ(script.copies, 0u);
    other_script.run();
    must(second.wait(1));
}

TEST_F(HoldBack, ADeviceThatWaitsForAHeldValueIsHeldToo) {
    // Same device, but the plugin has not got the value yet: its own wait command could not name it.
    Queue sibling = must(here.create_queue());
    other_script.manual = true;
    must(first.submit(copy(farther, far, 64)));
    must(second.submit(waiting(first, 1)));
    Batch batch;
    batch.wait({second.id(), 1}).copy(c.region, 0, b.region, 0, 64);
    must(sibling.submit(batch));
    EXPECT_EQ(code_of(sibling.wait(1, 3ms)), Code::timeout);
    EXPECT_EQ(script.copies, 0u);
    write(a, 0, 64, 4);
    other_script.manual = false;
    must(sibling.wait(1));
    EXPECT_TRUE(same(a, c, 64));
}

TEST_F(HoldBack, TheRefusalOfAHeldBatchFailsItsValueWithThePluginsWords) {
    other_script.manual = true;
    must(first.submit(copy(farther, far, 64)));
    must(second.submit(waiting(first, 1)));
    script.lost = true;
    other_script.run();
    const auto outcome = second.wait(1);
    ASSERT_EQ(code_of(outcome), Code::device_lost);
    EXPECT_TRUE(contains(outcome.error().message, "the device is gone")) << outcome.error().message;
}

} // namespace
} // namespace hbf::testing
