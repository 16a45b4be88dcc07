// SPDX-License-Identifier: Apache-2.0
// Honest devices pass; each lie is caught, with its place and a right guess.
#include <gtest/gtest.h>

#include "conformance/measure/cause.hpp"
#include "conformance/measure/lying_target.hpp"
#include "conformance/measure/transfer.hpp"

namespace hbf::measure {
namespace {

constexpr uint64_t bytes = 1 << 20, op = 65536;

struct Bench {
    bool src_mapped = true, dst_mapped = true;
    LyingTarget target{};
    Buffer src = target.make(bytes, src_mapped), dst = target.make(bytes, dst_mapped), staging = target.make(256 << 10);
    BatchPlan plan = plan_batches(bytes, op, 4, 64);
    Transfer transfer{target, src, dst, staging, bytes, plan, 4, 99};
};

TEST(Transfer, AnHonestDevicePasses) {
    for (bool src_mapped : {true, false}) {
        for (bool dst_mapped : {true, false}) {
            Bench b{src_mapped, dst_mapped};
            for (uint32_t i = 1; i <= 3; ++i) {
                auto sample = b.transfer.sample();
                ASSERT_TRUE(sample) << sample.error().message;
                EXPECT_FALSE(sample->mismatch) << to_string(*sample->mismatch);
                EXPECT_EQ(sample->generation, i);
                EXPECT_GT(sample->wall_seconds, 0);
            }
        }
    }
}

struct Caught {
    Lie lie;
    uint64_t offset;
    const char *guess;
};

class Lies : public testing::TestWithParam<Caught> {};

TEST_P(Lies, AreCaughtWithPlaceAndGuess) {
    Bench b;
    ASSERT_FALSE(b.transfer.sample()->mismatch);
    b.target.lie = GetParam().lie;
    auto sample = b.transfer.sample();
    ASSERT_TRUE(sample);
    ASSERT_TRUE(sample->mismatch);
    EXPECT_EQ(sample->mismatch->offset, GetParam().offset);
    EXPECT_NE(sample->mismatch->expected, sample->mismatch->actual);
    EXPECT_NE(sample->mismatch->guess.find(GetParam().guess), std::string::npos) << sample->mismatch->guess;
    EXPECT_EQ(sample->mismatch->checked_words, bytes / 4);
}

INSTANTIATE_TEST_SUITE_P(Each, Lies,
                         testing::Values(Caught{Lie::drop_write, 0, "never written"},
                                         Caught{Lie::drop_granule, 3 * 65536 + 128, "all bits"},
                                         Caught{Lie::flip_bit, 3 * 65536 + 128, "1 bit flipped (bit 3)"},
                                         Caught{Lie::stale, 0, "stale: data of generation 1, 1 before"},
                                         Caught{Lie::misplace, 3 * 65536 + 128, "misplaced: belongs at offset 0x0"}));

TEST(Transfer, AFlippedBitIsCountedOnce) {
    Bench b;
    b.target.lie = Lie::flip_bit;
    EXPECT_EQ(b.transfer.sample()->mismatch->wrong_words, 1u);
}

// Warm-up has put the right data there before: only the poison makes a write that is dropped afterwards visible.
TEST(Transfer, WritesDroppedAfterWarmUpAreSeen) {
    Bench b;
    ASSERT_TRUE(b.transfer.pass());
    ASSERT_TRUE(b.transfer.pass());
    b.target.lie = Lie::drop_write;
    EXPECT_TRUE(b.transfer.sample()->mismatch);
}

TEST(Transfer, AStorageThatDropsEverythingIsSeen) {
    Bench b{true, false};
    ASSERT_FALSE(b.transfer.sample()->mismatch);
    b.target.lie = Lie::drop_write; // the poison and the read back go through it too
    auto sample = b.transfer.sample();
    ASSERT_TRUE(sample);
    EXPECT_TRUE(sample->mismatch);
}

TEST(Transfer, TheDevicesOwnErrorIsPassedOn) {
    Bench b;
    b.target.lie = Lie::lose;
    auto sample = b.transfer.sample();
    ASSERT_FALSE(sample);
    EXPECT_EQ(sample.error().code, Code::data_loss);
    EXPECT_EQ(sample.error().offset, 65536u);
    b.target.lie = Lie::fail;
    EXPECT_EQ(b.transfer.pass().error().code, Code::device_lost);
}

TEST(Transfer, TimeBehindTheGateIsNotCounted) {
    Bench b;
    b.plan = plan_batches(bytes, op, 1, 64);
    Transfer gated(b.target, b.src, b.dst, b.staging, bytes, b.plan, 1, 99);
    b.target.holds = 1;
    b.target.on_submit = [] { std::this_thread::sleep_for(std::chrono::milliseconds(30)); };
    const auto begin = Clock::now();
    auto sample = gated.sample();
    const double elapsed = seconds_between(begin, Clock::now());
    ASSERT_TRUE(sample);
    EXPECT_LE(sample->wall_seconds, elapsed); // nothing is counted twice
    EXPECT_TRUE(sample->gated);
    EXPECT_FALSE(sample->mismatch);
    EXPECT_GE(sample->wall_seconds, 0.03);
    EXPECT_LE(sample->queue_seconds, sample->wall_seconds - 0.029);
    auto without = gated.sample();
    EXPECT_FALSE(without->gated);
    EXPECT_GE(without->queue_seconds, 0.03);
    EXPECT_EQ(without->queue_seconds, without->wall_seconds);
}

TEST(Transfer, PassesMultiplyWhatIsMoved) {
    Bench b;
    uint64_t submits = 0;
    b.target.on_submit = [&] { ++submits; };
    b.transfer.set_passes(5);
    EXPECT_EQ(b.transfer.sample_bytes(), 5 * bytes);
    ASSERT_TRUE(b.transfer.sample());
    EXPECT_EQ(submits, 5u * b.plan.batches);
}

TEST(Transfer, LatenciesAreCheckedToo) {
    Bench b;
    LatencyPlan plan;
    plan.seconds = 10;
    Latency cold, hot, lied;
    auto honest = b.transfer.latencies(plan, cold);
    ASSERT_TRUE(honest);
    EXPECT_FALSE(*honest);
    for (const auto *stage : {&cold.total, &cold.submit, &cold.movement, &cold.visible})
        EXPECT_EQ(stage->count(), bytes / op); // each granule once
    EXPECT_GT(cold.per_second(), 0);
    b.target.lie = Lie::flip_bit;
    EXPECT_TRUE(*b.transfer.latencies(plan, lied));
    b.target.lie = Lie::drop_write;
    plan.hot = true;
    plan.most = 50;
    EXPECT_TRUE(*b.transfer.latencies(plan, hot));
    EXPECT_EQ(hot.total.count(), 50u);
}

TEST(Transfer, AnUnmappedDestinationHasNoVisibleStage) {
    Bench b{true, false};
    Latency out;
    ASSERT_FALSE(*b.transfer.latencies({}, out));
    EXPECT_GT(out.movement.count(), 0u);
    EXPECT_EQ(out.visible.count(), 0u);
}

// A device that takes 2 ms for each copy cannot keep up with 1,000 a second: what waits for the copies before it has waited.
TEST(Transfer, AnOpenLoopCountsTheTimeACopyWasDueButCouldNotStart) {
    Bench b;
    b.target.delay = std::chrono::milliseconds(2);
    LatencyPlan plan;
    plan.seconds = 10;
    Latency closed, open;
    ASSERT_FALSE(*b.transfer.latencies(plan, closed));
    plan.rate = 1000;
    ASSERT_FALSE(*b.transfer.latencies(plan, open));
    ASSERT_EQ(open.total.count(), 16u);
    EXPECT_GE(open.total.max(), 16u * 1'000'000); // 16 copies of 2 ms, the last was due after 15 ms
    EXPECT_LT(open.movement.quantile(0) + open.submit.quantile(0), open.total.max());
    // Below what the device can do, the loop waits for the next copy's time.
    plan.rate = 100;
    Latency easy;
    ASSERT_FALSE(*b.transfer.latencies(plan, easy));
    EXPECT_GE(easy.seconds, 0.15);
}

TEST(Transfer, GatherAndScatterMoveBlocksInRandomOrderAndAreChecked) {
    for (auto order : {Order::gather, Order::scatter}) {
        Bench b;
        Transfer transfer{b.target, b.src, b.dst, b.staging, bytes, b.plan, 4, 99, order};
        auto sample = transfer.sample();
        ASSERT_TRUE(sample);
        EXPECT_FALSE(sample->mismatch) << to_string(*sample->mismatch);
        bool moved = false; // the blocks are not where they were: a device that ignores the list would be found
        for (uint64_t at = 0; at < bytes; at += op) moved |= std::memcmp(b.src.address + at, b.dst.address + at, op) != 0;
        EXPECT_TRUE(moved);
        for (auto lie : {Lie::drop_write, Lie::drop_granule, Lie::flip_bit, Lie::stale, Lie::misplace}) {
            b.target.lie = lie;
            auto wrong = transfer.sample();
            ASSERT_TRUE(wrong);
            EXPECT_TRUE(wrong->mismatch) << static_cast<int>(lie);
            b.target.lie = Lie::none;
            ASSERT_FALSE(transfer.sample()->mismatch);
        }
    }
}

TEST(Guess, FollowingWordsConfirmAPlaceFarAway) {
    const kernels::PatternKey key{1, 5, false}, old{1, 3, true};
    const uint64_t size = uint64_t{40} << 30, from = (uint64_t{33} << 30) + 64;
    const uint32_t next[] = {kernels::pattern_word(key, from + 4), kernels::pattern_word(key, from + 8)};
    auto cause = find_cause(key, size, 64, kernels::pattern_word(key, 64), kernels::pattern_word(key, from), next);
    EXPECT_EQ(cause.kind, Cause::Kind::misplaced);
    EXPECT_EQ(cause.address, from);
    EXPECT_EQ(cause.back, 0u);
    const uint32_t old_next[] = {kernels::pattern_word(old, from + 4), kernels::pattern_word(old, from + 8)};
    cause = find_cause(key, size, 64, kernels::pattern_word(key, 64), kernels::pattern_word(old, from), old_next);
    EXPECT_EQ(to_string(cause), "misplaced and stale: belongs at offset 0x840000040, generation 3, 2 before");
    const uint32_t nonsense[] = {1, 2}; // the first word alone would be credible
    cause = find_cause(key, size, 64, kernels::pattern_word(key, 64), kernels::pattern_word(key, from), nonsense);
    EXPECT_NE(cause.kind, Cause::Kind::misplaced);
}

TEST(Guess, KnowsNothingFromNonsense) {
    const kernels::PatternKey key{1, 5, false};
    const auto expected = kernels::pattern_word(key, 64);
    EXPECT_EQ(guess_cause(key, 4096, 64, expected, expected ^ 0x81), "2 bits flipped");
    EXPECT_EQ(guess_cause(key, 4096, 64, expected, 0), "all bits the same: not the test's data");
    EXPECT_EQ(guess_cause(key, 4096, 64, expected, kernels::pattern_word({1, 2, true}, 64)),
              "stale: data of generation 2, 3 before");
    EXPECT_EQ(guess_cause(key, 4096, 64, expected, kernels::pattern_word(key, 128)), "misplaced: belongs at offset 0x80");
    EXPECT_EQ(guess_cause(key, 4096, 64, expected, kernels::pattern_word({77, 5, false}, 64)), "not the test's data");
}

} // namespace
} // namespace hbf::measure
