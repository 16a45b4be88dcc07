// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "conformance/measure/plan.hpp"

namespace hbf::measure {
namespace {

TEST(WarmUp, TakesTwoPassesAndAFifthOfASecondAtLeast) {
    WarmUp slow(10);
    slow.add(1);
    EXPECT_FALSE(slow.done()); // one pass touches everything once only
    WarmUp quick(10);
    for (int i = 0; i < 5; ++i) quick.add(0.01);
    EXPECT_TRUE(quick.stable());
    EXPECT_FALSE(quick.done()); // stable, but 0.05 s
    for (int i = 0; i < 16; ++i) quick.add(0.01);
    EXPECT_TRUE(quick.done());
}

TEST(WarmUp, GivesUpOnARestlessMachineAndSaysSo) {
    WarmUp warm(1);
    for (int i = 0; i < 10 && !warm.done(); ++i) warm.add(i % 2 ? 0.2 : 0.1);
    EXPECT_TRUE(warm.done());
    EXPECT_FALSE(warm.stable());
}

TEST(StopRule, SamplesTimeAndTarget) {
    using Reason = StopRule::Reason;
    StopRule rule{30, 20, std::nullopt};
    EXPECT_EQ(rule.decide(29, 1, {}), Reason::go_on);
    EXPECT_EQ(rule.decide(30, 1, {}), Reason::samples);
    EXPECT_EQ(rule.decide(12, 20, {}), Reason::time);
    EXPECT_EQ(rule.decide(5, 20, {}), Reason::go_on); // an interval needs six
    EXPECT_EQ(rule.decide(5, 60, {}), Reason::time);  // but not at any price
    rule.target_half_width = 0.01;
    EXPECT_EQ(rule.decide(5, 1, 0.001), Reason::go_on);
    EXPECT_EQ(rule.decide(6, 1, 0.01), Reason::target);
    EXPECT_EQ(rule.decide(1000, 1, 0.02), Reason::go_on); // more samples until the target or the time
    EXPECT_EQ(rule.decide(1000, 21, 0.02), Reason::time);
    EXPECT_EQ((StopRule{2, 20, std::nullopt}.decide(2, 1, {})), Reason::samples);
}

TEST(Batches, CoverEverythingOnce) {
    auto plan = plan_batches(256 << 20, 1 << 20, 8, 256);
    EXPECT_EQ(plan.ops, 256u);
    EXPECT_EQ(plan.batch_ops, 32u);
    EXPECT_EQ(plan.batches, 8u);
    plan = plan_batches((1 << 20) + 5, 1 << 16, 8, 4); // a last short op; more batches than the depth
    EXPECT_EQ(plan.ops, 17u);
    EXPECT_EQ(plan.batch_ops, 3u);
    plan = plan_batches(4096, 1 << 20, 8, 256);
    EXPECT_EQ(plan.op_size, 4096u);
    EXPECT_EQ(plan.batches, 1u);
}

TEST(Arena, DefeatsTheCacheOrSaysItDoesNot) {
    constexpr uint64_t mib = 1 << 20, gib = 1 << 30;
    auto small_cache = plan_arena(32 * mib, 0, 64 * gib, 2, 65536);
    EXPECT_EQ(small_cache.bytes, 256 * mib);
    EXPECT_TRUE(small_cache.cold());
    EXPECT_EQ(plan_arena(256 * mib, 0, 64 * gib, 2, 65536).bytes, gib);
    auto short_of_memory = plan_arena(32 * mib, 0, 512 * mib, 4, 65536);
    EXPECT_EQ(short_of_memory.bytes, 64 * mib); // half of it, for four buffers
    EXPECT_FALSE(short_of_memory.cold());
    EXPECT_FALSE(plan_arena(32 * mib, 64 * mib, 64 * gib, 2, 65536).cold()); // as asked, but said
    EXPECT_EQ(plan_arena(32 * mib, 0, 100, 2, 65536).bytes, 0u);
}

TEST(Passes, MakeAShortSampleLongEnough) {
    EXPECT_EQ(passes_needed(0.025, 30e-9), 1u);
    EXPECT_EQ(passes_needed(0.005, 30e-9), 1u);
    EXPECT_EQ(passes_needed(0.0001, 30e-9), 200u);
    EXPECT_EQ(passes_needed(0, 30e-9), 4096u);
    EXPECT_EQ(passes_needed(0.002, 1e-3), 10u); // a coarse clock
}

} // namespace
} // namespace hbf::measure
