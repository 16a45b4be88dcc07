// SPDX-License-Identifier: Apache-2.0
// A flipped bit, a stale destination and a short read are data_loss with their place, whatever the path: never a success.
#include "core/fabric/crc_records.hpp"
#include "core/fabric/testing/fixture.hpp"

namespace hbf::testing {
namespace {

TEST(CrcRecords, KnowExactlyWhatWasWritten) {
    fabric::CrcRecords records(10 * granule + 5);
    records.reserve(0, 10 * granule + 5);
    records.set(granule, granule, 0);
    EXPECT_EQ(records.get(granule, granule), 0u) << "a checksum of 0 is one";
    EXPECT_EQ(records.get(granule, granule - 1), std::nullopt);
    EXPECT_EQ(records.get(0, granule), std::nullopt);
    records.set(10 * granule, 5, 7);
    EXPECT_EQ(records.get(10 * granule, 5), 7u);
    records.drop(2 * granule - 1, 1);
    EXPECT_EQ(records.get(granule, granule), std::nullopt);
    EXPECT_EQ(records.get(10 * granule, 5), 7u) << "of no granule that was dropped";
}

TEST(CrcRecords, AreSparse) {
    fabric::CrcRecords records(1ull << 40);
    records.reserve((1ull << 39), granule);
    records.set(1ull << 39, granule, 5);
    EXPECT_EQ(records.get(1ull << 39, granule), 5u);
    records.drop(0, 1ull << 40);
    EXPECT_EQ(records.get(1ull << 39, granule), std::nullopt);
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
    EXPECT_EQ(script.launches, 0u);
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

// A device with the project's checksum kernel, whose words the CPU sees where they are written, or gets by a copy.
struct KernelSetup {
    const char *name;
    bool vram_only;
    uint32_t capabilities;
};

class KernelIntegrity : public FabricTest, public ::testing::WithParamInterface<KernelSetup> {
protected:
    KernelIntegrity() {
        script.kernels = {"crc32c/1"};
        script.vram_only = GetParam().vram_only;
        script.capabilities = GetParam().capabilities | HBF_QUEUE_CAP_LAUNCH;
        device.emplace(open());
        a = must(device->allocate(vram, size));
        b = must(device->allocate(vram, size));
        queue.emplace(must(device->create_queue()));
        Batch batch;
        for (uint64_t i = 0; i < size; i += granule / 2) // granules that differ from each other
            batch.fill(a.region, i, std::min(granule / 2, size - i), 0x0123456789abcdefu + i);
        must(queue->wait(must(queue->submit(batch)).value));
    }
    Result<Completion> move(Integrity integrity = Integrity::kernel) {
        auto point = queue->submit(copy(b, a, size, integrity));
        if (!point) return tl::unexpected(point.error());
        return queue->wait(point->value);
    }
    static constexpr uint64_t size = 5 * granule + 1000;
    // Before it, the words of the source's checksums may have been copied out.
    const int the_copy = GetParam().vram_only && (GetParam().capabilities & HBF_QUEUE_CAP_CRC32C) == 0 ? 2 : 1;
    std::optional<Device> device;
    RegionInfo a, b;
    std::optional<Queue> queue;
};

TEST_P(KernelIntegrity, IsServedByTheDevicesOwnKernelAndSaysSo) {
    const Completion done = must(move());
    EXPECT_EQ(done.verified_by, VerifiedBy::kernel);
    EXPECT_EQ(done.checked_bytes, size);
    const bool engine_crc = (GetParam().capabilities & HBF_QUEUE_CAP_CRC32C) != 0;
    EXPECT_EQ(script.launches, engine_crc ? 1u : 2u) << "the source's checksum too, where the engine takes none";
    EXPECT_LE(script.largest_copy, size);
    EXPECT_EQ(script.copied_bytes, size + (GetParam().vram_only ? (engine_crc ? 1 : 2) * 6 * 4 : 0))
        << "no byte of the data was read out";
}

TEST_P(KernelIntegrity, IsLookedForAtFirstUseOnly) {
    EXPECT_EQ(script.finds, 0u);
    must(move(Integrity::readback));
    EXPECT_EQ(script.finds, 0u);
    for (int i = 0; i < 3; ++i) must(move());
    EXPECT_EQ(script.finds, 1u);
    Queue second = must(device->create_queue());
    must(second.wait(must(second.submit(copy(b, a, size, Integrity::kernel))).value));
    EXPECT_EQ(script.finds, 1u);
}

TEST_P(KernelIntegrity, AFlippedBitIsFoundWithItsGranule) {
    script.flip_bit = the_copy;
    const auto outcome = move();
    ASSERT_EQ(code_of(outcome), Code::data_loss);
    EXPECT_EQ(outcome.error().offset, 2 * granule) << outcome.error().message;
    EXPECT_TRUE(contains(outcome.error().message, "by the device's kernel")) << outcome.error().message;
    EXPECT_EQ(code_of(queue->poisoned()), Code::data_loss);
}

TEST_P(KernelIntegrity, AStaleDestinationIsFound) {
    script.drop_copy = the_copy;
    const auto outcome = move();
    ASSERT_EQ(code_of(outcome), Code::data_loss);
    EXPECT_EQ(outcome.error().offset, 0u);
}

TEST_P(KernelIntegrity, AKernelThatDoesNothingProvesNothing) {
    must(move()); // its words are right, and stay where they are
    const bool engine_crc = (GetParam().capabilities & HBF_QUEUE_CAP_CRC32C) != 0;
    script.drop_launch = engine_crc ? 1 : 2;
    EXPECT_EQ(code_of(move()), Code::data_loss);
}

TEST_P(KernelIntegrity, ALaunchThatFailsIsAFailure) {
    script.fail_launch = 1;
    const auto outcome = move();
    ASSERT_EQ(code_of(outcome), Code::internal);
    EXPECT_TRUE(contains(outcome.error().message, "the kernel stopped")) << outcome.error().message;
}

TEST_P(KernelIntegrity, OneThatDoesNotBuildIsNotUsedAndNotAskedForAgain) {
    script.kernel_status = HBF_UNAVAILABLE;
    for (int i = 0; i < 2; ++i) EXPECT_EQ(must(move()).verified_by, VerifiedBy::readback);
    EXPECT_EQ(script.finds, 1u);
    EXPECT_EQ(script.launches, 0u);
}

TEST_P(KernelIntegrity, MemoryThatKernelsDoNotReachIsReadBack) {
    const RegionInfo away = must(device->allocate(cold, size));
    EXPECT_EQ(must(queue->wait(must(queue->submit(copy(away, a, size, Integrity::kernel))).value)).verified_by,
              VerifiedBy::readback);
}

TEST_P(KernelIntegrity, TheWeakestOfABatchIsSaid) {
    Batch batch = copy(b, a, granule, Integrity::kernel);
    batch.copy(b.region, granule, a.region, granule, granule, Integrity::readback);
    EXPECT_EQ(must(queue->wait(must(queue->submit(batch)).value)).verified_by, VerifiedBy::readback);
}

TEST_P(KernelIntegrity, ItsMemoryEndsWithTheQueue) {
    const uint64_t before = script.live_regions;
    must(move());
    EXPECT_GT(script.live_regions, before);
    queue.reset();
    EXPECT_EQ(script.live_regions, before);
}

INSTANTIATE_TEST_SUITE_P(Everywhere, KernelIntegrity,
                         ::testing::Values(KernelSetup{"mapped_words_engine_crc", false, HBF_QUEUE_CAP_CRC32C},
                                           KernelSetup{"mapped_words", false, 0},
                                           KernelSetup{"copied_words_engine_crc", true, HBF_QUEUE_CAP_CRC32C},
                                           KernelSetup{"copied_words", true, 0}),
                         [](const auto &setup) { return std::string(setup.param.name); });

class KernelIntegrityElsewhere : public FabricTest {};

TEST_F(KernelIntegrityElsewhere, IsOfTheDeviceThatHoldsTheDestination) {
    other_script.kernels = {"crc32c/1"};
    Device here = open("a"), there = open("b");
    Queue queue = must(here.create_queue());
    const RegionInfo a = must(here.allocate(vram, granule)), b = must(there.allocate(vram, granule));
    EXPECT_EQ(must(queue.wait(must(queue.submit(copy(b, a, granule, Integrity::kernel))).value)).verified_by,
              VerifiedBy::kernel);
    EXPECT_EQ(other_script.launches, 1u);
    EXPECT_EQ(must(queue.wait(must(queue.submit(copy(a, b, granule, Integrity::kernel))).value)).verified_by,
              VerifiedBy::readback)
        << "this device has none";
    EXPECT_EQ(script.launches, 0u);
    other_script.flip_bit = 1;
    EXPECT_EQ(code_of(queue.wait(must(queue.submit(copy(b, a, granule, Integrity::kernel))).value)), Code::data_loss);
}

class KernelIntegrityLarge : public FabricTest {};

TEST_F(KernelIntegrityLarge, MoreThanOneLaunchHolds) {
    script.kernels = {"crc32c/1"};
    script.capabilities = HBF_QUEUE_CAP_CRC32C | HBF_QUEUE_CAP_LAUNCH;
    Device device = open();
    Queue queue = must(device.create_queue());
    constexpr uint64_t size = 129ull << 20; // a launch takes 128 MiB
    const RegionInfo a = must(device.allocate(alias, size)), b = must(device.allocate(vram, size));
    EXPECT_EQ(must(queue.wait(must(queue.submit(copy(b, a, size, Integrity::kernel))).value)).checked_bytes, size);
    EXPECT_EQ(script.launches, 2u);
}

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
