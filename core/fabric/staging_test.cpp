// SPDX-License-Identifier: Apache-2.0
// Copies between devices: directly where one reaches the other's memory, else through pinned buffers; always one value.
#include "core/fabric/auxiliary.hpp"
#include "core/fabric/testing/fixture.hpp"

namespace hbf::testing {
namespace {

class Staging : public FabricTest {
protected:
    void prepare() {
        here.emplace(open("a"));
        there.emplace(open("b"));
        queue.emplace(must(here->create_queue()));
        input = must(here->allocate(dram, size));
        output = must(there->allocate(dram, size));
        private_here = must(here->allocate(vram, size));
        private_there = must(there->allocate(vram, size));
        if (input.address != nullptr) write(input, 0, size, 1);
    }
    void TearDown() override { script.manual = other_script.manual = false; }
    Result<Completion> run(const Batch &batch) {
        auto point = queue->submit(batch);
        if (!point) return tl::unexpected(point.error());
        return queue->wait(point->value);
    }
    static constexpr uint64_t size = 5 * fabric::Bounce::half + 3 * granule + 777; // several rounds and a tail
    std::optional<Device> here, there;
    std::optional<Queue> queue;
    RegionInfo input, output, private_here, private_there;
};

TEST_F(Staging, DirectWhereTheQueuesDeviceReachesTheOthersMemory) {
    prepare();
    must(run(copy(output, input, size)));
    EXPECT_TRUE(same(input, output, size));
    EXPECT_EQ(script.copies, 1u) << "one copy, by this device's engine";
    EXPECT_EQ(other_script.copies, 0u);
    const uint64_t registered = script.registrations;
    for (int i = 0; i < 5; ++i) must(run(copy(output, input, size)));
    EXPECT_EQ(script.registrations, registered) << "registered once";
    // Freed at its owner, the registration here goes too.
    const uint64_t regions_here = script.live_regions;
    must(there->free(output.region));
    EXPECT_EQ(script.live_regions, regions_here - 1);
}

TEST_F(Staging, ByTheOtherDevicesEngineWhereThatIsTheOneThatReaches) {
    script.can_register = false;
    prepare();
    must(run(copy(output, input, size)));
    EXPECT_TRUE(same(input, output, size));
    EXPECT_EQ(script.copies, 0u);
    EXPECT_EQ(other_script.copies, 1u);
}

TEST_F(Staging, ThroughBuffersWhereNeitherReaches) {
    prepare();
    must(run(copy(private_here, input, size)));
    must(run(copy(private_there, private_here, size)));
    must(run(copy(output, private_there, size)));
    EXPECT_TRUE(same(input, output, size));
    EXPECT_GE(script.copies, 1 + (size + fabric::Bounce::half - 1) / fabric::Bounce::half);
}

TEST_F(Staging, IsOneValueThatFreesItsRegionsAtTheEnd) {
    prepare();
    must(run(copy(private_here, input, size)));
    script.manual = other_script.manual = true;
    must(queue->submit(copy(private_there, private_here, size)));
    must(queue->submit(copy(output, input, 64))); // behind it
    int rounds = 0;
    while (code_of(queue->wait(2, 1ms)) == Code::timeout) {
        EXPECT_EQ(code_of(there->free(private_there.region)), Code::busy);
        EXPECT_EQ(code_of(here->free(private_here.region)), Code::busy);
        EXPECT_EQ(output.address[0], std::byte{0}) << "what follows waits";
        script.run();
        other_script.run();
        ASSERT_LT(++rounds, 1000);
    }
    EXPECT_GE(rounds, 2) << "it took several chunks";
    must(there->free(private_there.region));
    script.manual = other_script.manual = false;
    must(queue->wait(3));
}

TEST_F(Staging, KeepsTwoChunksInFlight) {
    prepare();
    must(run(copy(private_here, input, size)));
    script.manual = true;
    const uint64_t before = script.copies, given = script.submitted;
    must(queue->submit(copy(private_there, private_here, size)));
    // The progress thread may be at it just now, and then a poll finds nothing to do.
    const auto until = std::chrono::steady_clock::now() + 20s;
    while (script.submitted - given < 2 && std::chrono::steady_clock::now() < until) queue->completed();
    script.run();
    EXPECT_EQ(script.copies - before, 2u);
    script.manual = false;
    must(queue->wait(2));
}

TEST_F(Staging, CancelledMidwayItEndsAndLeavesNothingBusy) {
    prepare();
    must(run(copy(private_here, input, size)));
    script.manual = true;
    must(queue->submit(copy(private_there, private_here, size)));
    queue->completed();
    must(queue->cancel(2));
    EXPECT_EQ(queue->completed(), 1u) << "chunks are still at the device";
    EXPECT_EQ(code_of(there->free(private_there.region)), Code::busy);
    script.manual = false;
    EXPECT_EQ(code_of(queue->wait(2)), Code::cancelled);
    must(there->free(private_there.region));
    must(queue->poisoned());
    must(run(copy(private_here, input, size)));
}

TEST_F(Staging, AFailureOnEitherSideFailsTheValueAndDrains) {
    for (const bool far : {false, true}) {
        prepare();
        must(run(copy(private_here, input, size)));
        (far ? other_script : script).fail_copy = 2;
        const auto outcome = run(copy(private_there, private_here, size));
        ASSERT_EQ(code_of(outcome), Code::internal) << far;
        EXPECT_TRUE(contains(outcome.error().message, "told to fail"));
        must(there->free(private_there.region));
        must(here->free(private_here.region));
        queue.reset();
    }
}

TEST_F(Staging, AfterAFailureThatWasCancelledTheQueueGoesOn) {
    prepare();
    must(run(copy(private_here, input, size)));
    script.manual = true;
    must(queue->submit(copy(private_there, private_here, size)));
    queue->completed();
    script.fail_copy = 1;
    must(queue->cancel(2));
    script.manual = false;
    EXPECT_EQ(code_of(queue->wait(2)), Code::cancelled);
    must(run(copy(private_there, private_here, size)));
}

TEST_F(Staging, NoPathNamesBoth) {
    script.can_register = false;
    prepare();
    const auto point = queue->submit(copy(private_there, private_here, size));
    ASSERT_EQ(code_of(point), Code::unsupported);
    EXPECT_TRUE(contains(point.error().message, "vram of fake:a")) << point.error().message;
    EXPECT_TRUE(contains(point.error().message, "vram of fake:b"));
    must(here->free(private_here.region));
}

TEST_F(Staging, IntegrityHoldsAcrossDevices) {
    for (const Integrity integrity : {Integrity::next_read, Integrity::readback}) {
        prepare();
        must(run(copy(private_here, input, size, integrity)));
        EXPECT_GE(must(run(copy(private_there, private_here, size, integrity))).checked_bytes, size);
        EXPECT_GE(must(run(copy(output, private_there, size, integrity))).checked_bytes, size);
        EXPECT_TRUE(same(input, output, size));

        other_script.flip_bit = 1; // on the last hop's source side
        auto outcome = run(copy(private_there, private_here, size, integrity));
        if (integrity == Integrity::next_read) {
            must(std::move(outcome));
            outcome = run(copy(output, private_there, size, integrity));
        }
        ASSERT_EQ(code_of(outcome), Code::data_loss);
        EXPECT_TRUE(contains(outcome.error().place, "vram of fake:b")) << outcome.error().place;
        queue.reset();
    }
}

TEST_F(Staging, AQueueMayMoveBytesThatAreAllElsewhere) {
    prepare();
    Queue other = must(there->create_queue());
    must(other.wait(must(other.submit(copy(private_here, input, size))).value));
    must(run(copy(output, input, size)));
    Batch batch;
    batch.fill(output.region, 0, 64, 0x55, 1);
    must(run(batch));
    EXPECT_EQ(output.address[63], std::byte{0x55});
}

TEST_F(Staging, SoftwareDomainsAreFlushedAndInvalidatedOnTheWay) {
    prepare();
    const RegionInfo from = must(here->allocate(soft, size)), to = must(there->allocate(soft, size));
    write(from, 0, size, 8);
    must(run(copy(to, from, size)));
    EXPECT_TRUE(same(from, to, size));
}

TEST_F(Staging, DevicesComeAndGo) {
    prepare();
    must(run(copy(private_here, input, size)));
    for (int i = 0; i < 20; ++i) {
        add_device("c");
        Device visitor = open("c");
        const RegionInfo region = must(visitor.allocate(vram, size));
        must(run(copy(region, private_here, size)));
    }
}

} // namespace
} // namespace hbf::testing
