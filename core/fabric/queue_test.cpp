// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "core/fabric/tables.hpp"
#include "core/fabric/testing/fixture.hpp"

namespace hbf::testing {
namespace {

class Queues : public FabricTest {
protected:
    Device device = open();
    RegionInfo a = must(device.allocate(dram, 4 * granule)), b = must(device.allocate(dram, 4 * granule)),
               c = must(device.allocate(dram, 4 * granule));
    Queue queue = must(device.create_queue());
    void TearDown() override { // nothing may be left that would keep a queue from ending
        script.manual = other_script.manual = false;
    }
};

TEST_F(Queues, CopyFillAndTheirValues) {
    write(a, 0, a.size, 1);
    const Point first = must(queue.submit(copy(b, a, a.size)));
    EXPECT_EQ(first.queue, queue.id());
    EXPECT_EQ(first.value, 1u);
    const Completion completion = must(queue.wait(1));
    EXPECT_EQ(completion.code, Code::ok);
    EXPECT_EQ(completion.verified_by, VerifiedBy::nobody);
    EXPECT_TRUE(same(a, b, a.size));

    Batch batch;
    batch.fill(b.region, 3, 9, 0x1122, 2).barrier().copy(c.region, 0, b.region, 0, 16);
    EXPECT_EQ(must(queue.submit(batch)).value, 2u);
    must(queue.wait(2));
    EXPECT_EQ(c.address[2], a.address[2]);
    EXPECT_EQ(c.address[3], std::byte{0x22});
    EXPECT_EQ(c.address[4], std::byte{0x11});
    EXPECT_EQ(c.address[11], std::byte{0x22}) << "the last pattern is cut";
    EXPECT_EQ(c.address[12], a.address[12]);
    EXPECT_EQ(queue.completed(), 2u);
}

TEST_F(Queues, AnEmptyBatchIsAValue) {
    EXPECT_EQ(must(queue.submit(Batch())).value, 1u);
    must(queue.wait(1));
}

TEST_F(Queues, RangesAreCheckedAndNothingOfABadBatchRuns) {
    struct Case {
        uint64_t dst, src, size;
    };
    for (const Case &one :
         {Case{0, 0, 0}, Case{0, 0, a.size + 1}, Case{a.size, 0, 1}, Case{1, 0, a.size}, Case{0, 1, a.size},
          Case{UINT64_MAX, 0, 1}, Case{UINT64_MAX - 10, 0, 20}, Case{0, UINT64_MAX, UINT64_MAX}, Case{0, 0, UINT64_MAX}}) {
        Batch batch;
        batch.copy(b.region, 0, a.region, 0, 64).copy(b.region, one.dst, a.region, one.src, one.size);
        const auto point = queue.submit(batch);
        EXPECT_EQ(code_of(point), Code::invalid) << one.dst << " " << one.src << " " << one.size;
        if (!point) {
            EXPECT_TRUE(contains(point.error().message, "command 1 (copy)")) << point.error().message;
        }
    }
    Batch fill;
    fill.fill(a.region, 0, 8, 1, 3);
    EXPECT_EQ(code_of(queue.submit(fill)), Code::invalid);
    EXPECT_EQ(script.copies, 0u);
    must(device.free(a.region)); // no pin is left behind
    must(device.free(b.region));
    EXPECT_EQ(must(queue.submit(Batch())).value, 1u) << "no value was spent";
}

TEST_F(Queues, OverlappingCopiesAreRefused) {
    Batch batch;
    batch.copy(a.region, 100, a.region, 0, 101);
    const auto point = queue.submit(batch);
    ASSERT_EQ(code_of(point), Code::invalid);
    EXPECT_TRUE(contains(point.error().message, "overlap"));
    batch.clear();
    batch.copy(a.region, 0, a.region, 0, 1);
    EXPECT_EQ(code_of(queue.submit(batch)), Code::invalid);
    batch.clear();
    batch.copy(a.region, 100, a.region, 0, 100).copy(a.region, 300, a.region, 400, 100); // side by side
    must(queue.wait(must(queue.submit(batch)).value));
    // The same bytes under two names.
    const RegionInfo window = must(device.register_host({a.address + 4096, 4096}));
    batch.clear();
    batch.copy(window.region, 0, a.region, 4000, 100);
    EXPECT_EQ(code_of(queue.submit(batch)), Code::invalid);
}

TEST_F(Queues, DepthIsBackpressureAndNothingIsLost) {
    QueueOptions options;
    options.depth = 3;
    Queue small = must(device.create_queue(options));
    script.manual = true;
    for (uint64_t i = 0; i < 3; ++i) must(small.submit(copy(b, a, 64)));
    const auto refused = small.submit(copy(b, a, 64));
    ASSERT_EQ(code_of(refused), Code::exhausted);
    EXPECT_TRUE(contains(refused.error().message, "depth"));
    script.run();
    EXPECT_EQ(must(small.submit(copy(b, a, 64))).value, 4u) << "the refused batch spent no value";
    script.run();
    must(small.wait(4));
    EXPECT_EQ(script.copies, 4u);
}

TEST_F(Queues, LimitsOfTheDeviceAreNamed) {
    QueueOptions options;
    options.depth = script.max_depth + 1;
    EXPECT_EQ(code_of(device.create_queue(options)), Code::invalid);
    options = {};
    options.commands = 4;
    Queue small = must(device.create_queue(options));
    Batch batch;
    for (int i = 0; i < 5; ++i) batch.barrier();
    EXPECT_EQ(code_of(small.submit(batch)), Code::invalid);
}

TEST_F(Queues, ADeadlineLeavesTheWorkPending) {
    script.manual = true;
    const Point point = must(queue.submit(copy(b, a, 64)));
    EXPECT_EQ(code_of(queue.wait(point.value, 0ns)), Code::timeout);
    EXPECT_EQ(code_of(queue.wait(point.value, 2ms)), Code::timeout);
    EXPECT_EQ(code_of(queue.status(point.value)), Code::busy);
    EXPECT_EQ(queue.completed(), 0u);
    script.run();
    EXPECT_EQ(must(queue.wait(point.value)).code, Code::ok);
}

TEST_F(Queues, ValuesThatWereNeverReturnedAreErrors) {
    for (const uint64_t value : {uint64_t{0}, uint64_t{1}, UINT64_MAX}) {
        EXPECT_EQ(code_of(queue.wait(value)), Code::invalid);
        EXPECT_EQ(code_of(queue.status(value)), Code::invalid);
        EXPECT_EQ(code_of(queue.cancel(value)), Code::invalid);
        EXPECT_EQ(code_of(queue.on_complete(value, [](const auto &) {})), Code::invalid);
        Batch batch;
        batch.wait({queue.id(), value});
        EXPECT_EQ(code_of(queue.submit(batch)), Code::invalid);
        batch.clear();
        batch.wait({queue.id() + 500, value});
        EXPECT_EQ(code_of(queue.submit(batch)), Code::invalid);
    }
}

TEST_F(Queues, AFailurePoisonsTheQueueFromTheLowestValueOn) {
    script.manual = true;
    must(queue.submit(copy(b, a, 64)));
    must(queue.submit(copy(b, a, 64)));
    must(queue.submit(copy(b, a, 64)));
    script.fail_copy = 2;
    script.run();
    EXPECT_EQ(must(queue.wait(1)).code, Code::ok);
    const auto second = queue.wait(2);
    ASSERT_EQ(code_of(second), Code::internal);
    EXPECT_TRUE(contains(second.error().message, "told to fail"));
    EXPECT_EQ(second.error().offset, 0u);
    EXPECT_TRUE(contains(second.error().place, "dram of fake:a")) << second.error().place;
    EXPECT_EQ(code_of(queue.wait(3)), Code::internal);
    EXPECT_EQ(must(queue.status(3)).code, Code::internal);
    EXPECT_EQ(code_of(queue.poisoned()), Code::internal);
    EXPECT_EQ(queue.completed(), 3u);
    EXPECT_EQ(code_of(queue.submit(copy(b, a, 64))), Code::internal);
    must(device.free(a.region));
    must(device.free(b.region));
}

TEST_F(Queues, AWaiterOnAFailedValueFailsEvenIfTheDeviceRanIt) {
    Queue waiter = must(device.create_queue());
    script.manual = true;
    must(queue.submit(copy(b, a, 64)));
    Batch batch;
    batch.wait({queue.id(), 1}).copy(c.region, 0, a.region, 0, 64);
    must(waiter.submit(batch));
    EXPECT_EQ(script.copies, 0u);
    script.fail_copy = 1;
    script.run_queue(0);
    script.run_queue(1);
    EXPECT_EQ(script.copies, 2u) << "the device ran the waiter";
    const auto outcome = waiter.wait(1);
    ASSERT_EQ(code_of(outcome), Code::internal);
    EXPECT_TRUE(contains(outcome.error().message, "told to fail")) << outcome.error().message;
    EXPECT_EQ(code_of(waiter.poisoned()), Code::internal);
}

TEST_F(Queues, WaitsOrderAcrossQueuesOfADevice) {
    Queue second = must(device.create_queue());
    write(a, 0, 64, 9);
    script.manual = true;
    must(queue.submit(copy(b, a, 64)));
    Batch batch;
    batch.wait({queue.id(), 1}).copy(c.region, 0, b.region, 0, 64);
    must(second.submit(batch));
    script.run_queue(1);
    EXPECT_EQ(second.completed(), 0u) << "the device's own wait holds it";
    script.run_queue(0);
    script.run_queue(1);
    must(second.wait(1));
    EXPECT_TRUE(same(a, c, 64));
    EXPECT_EQ(script.waits, 1u);
}

TEST_F(Queues, APointOnAClosedQueueStillHasItsOutcome) {
    uint32_t id = 0, bad = 0;
    {
        Queue gone = must(device.create_queue());
        must(gone.submit(copy(b, a, 64)));
        id = gone.id();
        Queue failing = must(device.create_queue());
        script.fail_copy = 1;
        must(failing.submit(copy(b, a, 64)));
        bad = failing.id();
    }
    Batch batch;
    batch.wait({id, 1}).copy(c.region, 0, a.region, 0, 64);
    must(queue.wait(must(queue.submit(batch)).value));
    batch.clear();
    batch.wait({id, 2});
    EXPECT_EQ(code_of(queue.submit(batch)), Code::invalid);
    batch.clear();
    batch.wait({bad, 1});
    EXPECT_EQ(code_of(queue.wait(must(queue.submit(batch)).value)), Code::internal);
}

TEST_F(Queues, OutcomesAreKeptForEverDetailsForAWhile) {
    script.manual = true;
    must(queue.submit(copy(b, a, granule, Integrity::next_read)));
    must(queue.submit(copy(b, a, 64)));
    must(queue.cancel(2));
    script.manual = false;
    must(queue.wait(1));
    EXPECT_EQ(must(queue.status(1)).verified_by, VerifiedBy::next_read);
    for (int i = 0; i < 2000; ++i) must(queue.wait(must(queue.submit(Batch())).value));
    EXPECT_EQ(must(queue.status(1)).code, Code::ok);
    EXPECT_EQ(must(queue.status(1)).verified_by, VerifiedBy::nobody) << "never more than is known";
    EXPECT_EQ(must(queue.status(2)).code, Code::cancelled);
    EXPECT_EQ(code_of(queue.wait(2)), Code::cancelled);
}

TEST_F(Queues, ALostDeviceFailsWhatIsInFlightAndWhatComes) {
    script.manual = true;
    must(queue.submit(copy(b, a, 64)));
    must(queue.submit(copy(b, a, 64)));
    script.lost = true;
    EXPECT_EQ(code_of(queue.wait(1)), Code::device_lost);
    EXPECT_EQ(code_of(queue.wait(2)), Code::device_lost);
    EXPECT_EQ(code_of(queue.submit(copy(b, a, 64))), Code::device_lost);
}

TEST_F(Queues, APluginThatCountsWronglyIsFoundOut) {
    script.manual = true;
    must(queue.submit(copy(b, a, 64)));
    script.overcount = true;
    script.run();
    const auto outcome = queue.wait(1);
    ASSERT_EQ(code_of(outcome), Code::internal);
    EXPECT_TRUE(contains(outcome.error().message, "never submitted")) << outcome.error().message;
}

TEST_F(Queues, SubmitFromTwoThreadsIsBusyNotBroken) {
    std::atomic<int> refused{0}, taken{0};
    const auto hammer = [&] {
        Batch batch;
        batch.copy(b.region, 0, a.region, 0, 4 * granule);
        for (int i = 0; i < 1000; ++i) {
            const auto point = queue.submit(batch);
            if (point)
                ++taken;
            else if (point.error().code == Code::busy)
                ++refused;
            else
                ADD_FAILURE() << point.error().message;
        }
    };
    std::thread one(hammer), two(hammer);
    one.join();
    two.join();
    EXPECT_GT(taken, 0);
    must(queue.wait(static_cast<uint64_t>(taken.load())));
    EXPECT_EQ(script.copies, static_cast<uint64_t>(taken.load())) << "each value once";
    EXPECT_EQ(taken + refused, 2000);
}

TEST(NumberTable, GoesOnPastAMillion) {
    struct Small {
        std::atomic<bool> published{false};
    };
    static fabric::NumberTable<Small> table;
    constexpr uint32_t many = (1u << 20) + 300;
    Small *first = nullptr, *last = nullptr;
    for (uint32_t i = 1; i <= many; ++i) {
        const auto draft = table.add();
        ASSERT_EQ(draft.number, i);
        draft.entry->published = true;
        (i == 1 ? first : last) = draft.entry;
    }
    EXPECT_EQ(table.find(1), first);
    EXPECT_EQ(table.find(many), last);
    EXPECT_EQ(table.find(0), nullptr);
    EXPECT_EQ(table.find(many + 1), nullptr);
    EXPECT_EQ(table.find(UINT32_MAX), nullptr);
}

} // namespace
} // namespace hbf::testing
