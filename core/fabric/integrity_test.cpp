// SPDX-License-Identifier: Apache-2.0
// A flipped bit, a stale destination and a short read are data_loss with their place, whatever the path: never a success.
#include "core/fabric/crc_records.hpp"
#include "core/fabric/testing/fixture.hpp"

namespace hbf::testing {
namespace {

TEST(CrcRecords, KnowExactlyWhatWasWritten) {
    fabric::CrcRecords records(10 * granule + 5);
    records.reserve(0, 10 * granule + 5);
    records.set(granule, granule, 0, 0);
    EXPECT_EQ(records.get(granule, granule, 0), 0u) << "a checksum of 0 is one";
    EXPECT_EQ(records.get(granule, granule - 1, 0), std::nullopt);
    EXPECT_EQ(records.get(0, granule, 0), std::nullopt);
    records.set(10 * granule, 5, 7, 0);
    EXPECT_EQ(records.get(10 * granule, 5, 0), 7u);
    records.drop(2 * granule - 1, 1);
    EXPECT_EQ(records.get(granule, granule, 0), std::nullopt);
    EXPECT_EQ(records.get(10 * granule, 5, 1), std::nullopt) << "another epoch";
    records.set(0, granule, 3, 1);
    EXPECT_EQ(records.get(10 * granule, 5, 1), std::nullopt) << "what is older than the epoch is forgotten";
}

TEST(CrcRecords, AreSparse) {
    fabric::CrcRecords records(1ull << 40);
    records.reserve((1ull << 39), granule);
    records.set(1ull << 39, granule, 5, 0);
    EXPECT_EQ(records.get(1ull << 39, granule, 0), 5u);
    records.drop(0, 1ull << 40);
    EXPECT_EQ(records.get(1ull << 39, granule, 0), std::nullopt);
}

struct Setup {
    const char *name;
    uint32_t capabilities;
    FakeTier tier; // of the destination; the source is in dram
};

// With and without checksums in the engine; where the CPU sees the destination, where it needs explicit coherence, where it
// sees nothing.
class IntegrityOn : public FabricTest, public ::testing::WithParamInterface<Setup> {
protected:
    IntegrityOn() {
        script.capabilities = GetParam().capabilities;
        device.emplace(open());
        source = must(device->allocate(dram, size));
        middle = must(device->allocate(GetParam().tier, size));
        result = must(device->allocate(dram, size));
        queue.emplace(must(device->create_queue()));
        write(source, 0, size, 1);
    }
    Result<Completion> move(const RegionInfo &to, const RegionInfo &from, Integrity integrity) {
        return queue->wait(must(queue->submit(copy(to, from, size, integrity))).value);
    }
    static constexpr uint64_t size = 3 * granule + 1000;
    std::optional<Device> device;
    RegionInfo source, middle, result;
    std::optional<Queue> queue;
};

TEST_P(IntegrityOn, ReadbackAcceptsWhatIsRight) {
    const Completion done = must(move(middle, source, Integrity::readback));
    EXPECT_EQ(done.verified_by, VerifiedBy::readback);
    EXPECT_EQ(done.checked_bytes, size);
    const Completion back = must(move(result, middle, Integrity::readback));
    EXPECT_EQ(back.checked_bytes, 2 * size) << "the source against its record, the destination read back";
    EXPECT_TRUE(same(source, result, size));
}

TEST_P(IntegrityOn, KernelFallsBackToReadbackAndSaysSo) {
    EXPECT_EQ(must(move(middle, source, Integrity::kernel)).verified_by, VerifiedBy::readback);
}

TEST_P(IntegrityOn, NextReadComparesWhatItRecorded) {
    const Completion done = must(move(middle, source, Integrity::next_read));
    EXPECT_EQ(done.verified_by, VerifiedBy::next_read);
    EXPECT_EQ(done.checked_bytes, 0u) << "recorded, not compared";
    EXPECT_EQ(must(move(result, middle, Integrity::next_read)).checked_bytes, size);
    EXPECT_TRUE(same(source, result, size));
}

TEST_P(IntegrityOn, AFlippedBitIsFoundByReadback) {
    script.flip_bit = 1;
    const auto outcome = move(middle, source, Integrity::readback);
    ASSERT_EQ(code_of(outcome), Code::data_loss);
    EXPECT_EQ(outcome.error().offset, granule) << "the granule of the flipped bit";
    EXPECT_TRUE(contains(outcome.error().place, "of fake:a")) << outcome.error().place;
    EXPECT_EQ(code_of(queue->poisoned()), Code::data_loss);
}

TEST_P(IntegrityOn, AStaleDestinationIsFoundByReadback) {
    script.drop_copy = 1;
    const auto outcome = move(middle, source, Integrity::readback);
    ASSERT_EQ(code_of(outcome), Code::data_loss);
    EXPECT_EQ(outcome.error().offset, 0u);
}

TEST_P(IntegrityOn, AFlippedBitIsFoundByTheNextRead) {
    script.flip_bit = 1;
    must(move(middle, source, Integrity::next_read));
    const auto outcome = move(result, middle, Integrity::next_read);
    ASSERT_EQ(code_of(outcome), Code::data_loss);
    EXPECT_EQ(outcome.error().offset, granule);
    EXPECT_FALSE(outcome.error().place.empty());
}

TEST_P(IntegrityOn, AStaleDestinationIsFoundByTheNextReadInEveryMode) {
    script.drop_copy = 1;
    must(move(middle, source, Integrity::next_read));
    const auto outcome = move(result, middle, Integrity::readback);
    ASSERT_EQ(code_of(outcome), Code::data_loss);
    EXPECT_EQ(outcome.error().offset, 0u);
}

TEST_P(IntegrityOn, AShortReadIsDataLossWithItsOffset) {
    for (const Integrity integrity : {Integrity::none, Integrity::next_read}) {
        Queue fresh = must(device->create_queue());
        script.short_read = 1;
        const auto outcome = fresh.wait(must(fresh.submit(copy(middle, source, size, integrity))).value);
        ASSERT_EQ(code_of(outcome), Code::data_loss);
        EXPECT_EQ(outcome.error().offset, size / 2);
        EXPECT_TRUE(contains(outcome.error().place, "dram of fake:a")) << outcome.error().place;
        EXPECT_TRUE(contains(outcome.error().message, "short read"));
    }
}

INSTANTIATE_TEST_SUITE_P(Everywhere, IntegrityOn,
                         ::testing::Values(Setup{"engine_crc_dram", HBF_QUEUE_CAP_CRC32C, dram},
                                           Setup{"engine_crc_soft", HBF_QUEUE_CAP_CRC32C, soft},
                                           Setup{"engine_crc_vram", HBF_QUEUE_CAP_CRC32C, vram},
                                           Setup{"cpu_crc_dram", 0, dram}, Setup{"cpu_crc_soft", 0, soft},
                                           Setup{"cpu_crc_vram", 0, vram}),
                         [](const auto &setup) { return std::string(setup.param.name); });

class IntegrityRules : public FabricTest {
protected:
    Device device = open();
    RegionInfo a = must(device.allocate(dram, 4 * granule)), b = must(device.allocate(dram, 4 * granule)),
               c = must(device.allocate(dram, 4 * granule));
    Queue queue = must(device.create_queue());
    Completion run(const Batch &batch) { return must(queue.wait(must(queue.submit(batch)).value)); }
    uint64_t checked_when_read() { return run(copy(c, b, 2 * granule, Integrity::next_read)).checked_bytes; }
    void SetUp() override { run(copy(b, a, 2 * granule, Integrity::next_read)); }
    void TearDown() override { script.manual = false; }
};

TEST_F(IntegrityRules, GranuleBoundsOrAReason) {
    for (const auto &[dst, src] : {std::pair{uint64_t{1}, uint64_t{0}}, std::pair{uint64_t{0}, granule / 2}}) {
        Batch batch;
        batch.copy(b.region, dst, a.region, src, granule, Integrity::next_read);
        const auto point = queue.submit(batch);
        ASSERT_EQ(code_of(point), Code::invalid);
        EXPECT_TRUE(contains(point.error().message, "65536")) << point.error().message;
    }
}

TEST_F(IntegrityRules, RecordsHoldUntilSomethingElseWrites) {
    EXPECT_EQ(checked_when_read(), 2 * granule);
    EXPECT_EQ(checked_when_read(), 2 * granule) << "reading forgets nothing";

    Batch plain;
    plain.copy(b.region, 100, a.region, 0, 8);
    run(plain);
    EXPECT_EQ(checked_when_read(), granule) << "a plain copy into the first granule";

    run(copy(b, a, 2 * granule, Integrity::next_read));
    Batch fill;
    fill.fill(b.region, granule + 5, 1, 0, 1);
    run(fill);
    EXPECT_EQ(checked_when_read(), granule);

    run(copy(b, a, 2 * granule, Integrity::next_read));
    b.address[0] ^= std::byte{1};
    must(device.written_by_cpu(b.region, 0, 1));
    EXPECT_EQ(checked_when_read(), granule);

    run(copy(b, a, 2 * granule, Integrity::next_read));
    const uint32_t one[3] = {1, 1, 1};
    Batch launch;
    launch.launch(1, {}, one, one);
    run(launch);
    EXPECT_EQ(checked_when_read(), 0u) << "a kernel may have written anywhere";
}

TEST_F(IntegrityRules, ACpuWriteThatWasNotToldIsFound) {
    b.address[granule + 17] ^= std::byte{1};
    const auto outcome = queue.wait(must(queue.submit(copy(c, b, 2 * granule, Integrity::next_read))).value);
    ASSERT_EQ(code_of(outcome), Code::data_loss);
    EXPECT_EQ(outcome.error().offset, granule);
}

TEST_F(IntegrityRules, PipelinedValuesSettleInOrder) {
    script.manual = true;
    must(queue.submit(copy(b, a, granule, Integrity::next_read)));
    must(queue.submit(copy(c, b, granule, Integrity::next_read)));
    Batch fill;
    fill.fill(b.region, 0, granule, 7);
    must(queue.submit(fill));
    must(queue.submit(copy(c, b, granule, Integrity::next_read)));
    script.run();
    const uint64_t first = 2; // SetUp's was 1
    EXPECT_EQ(must(queue.wait(first + 1)).checked_bytes, granule);
    EXPECT_EQ(must(queue.wait(first + 3)).checked_bytes, 0u);
}

TEST_F(IntegrityRules, ReadbackIsDoneBeforeAnythingLaterRuns) {
    must(queue.submit(copy(b, a, granule, Integrity::readback)));
    Batch fill;
    fill.fill(b.region, 0, granule, 0xff);
    must(queue.submit(fill)); // would make the readback fail, were it let through
    must(queue.wait(3));
    EXPECT_EQ(b.address[0], std::byte{0xff});
}

TEST_F(IntegrityRules, ReadbackBeginsAfterEverythingEarlier) {
    script.manual = true;
    must(queue.submit(copy(b, a, granule)));
    const uint64_t before = script.copies;
    must(queue.submit(copy(c, b, granule, Integrity::readback)));
    queue.completed();
    const size_t queues = script.queues().size();
    for (size_t i = 1; i < queues; ++i) script.run_queue(i); // the fabric's own
    EXPECT_EQ(script.copies, before) << "its source is not written yet";
    script.manual = false;
    must(queue.wait(3));
    EXPECT_TRUE(same(b, c, granule));
}

TEST_F(IntegrityRules, BarriersInsideABatchAreKept) {
    Batch batch;
    write(a, 0, granule, 9);
    batch.copy(b.region, 0, a.region, 0, granule, Integrity::readback);
    batch.barrier();
    batch.fill(b.region, 0, granule, 1);
    batch.barrier();
    batch.copy(c.region, 0, b.region, 0, granule, Integrity::readback);
    const Completion done = run(batch);
    EXPECT_EQ(done.checked_bytes, 2 * granule);
    EXPECT_EQ(c.address[0], std::byte{1});
}

TEST_F(IntegrityRules, TheWeakestOfABatchIsSaid) {
    Batch batch;
    batch.copy(b.region, 0, a.region, 0, granule, Integrity::readback);
    batch.copy(c.region, 0, a.region, 0, granule, Integrity::next_read);
    EXPECT_EQ(run(batch).verified_by, VerifiedBy::next_read);
}

TEST_F(IntegrityRules, WhatWasCancelledOrFailedLeavesNoRecord) {
    script.manual = true;
    script.cancel_works = false;
    must(queue.submit(copy(b, a, granule, Integrity::next_read)));
    must(queue.cancel(2));
    script.run();
    EXPECT_EQ(code_of(queue.wait(2)), Code::cancelled);
    script.manual = false;
    EXPECT_EQ(checked_when_read(), granule) << "only the second granule, from before";
}

} // namespace
} // namespace hbf::testing
