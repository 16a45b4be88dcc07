// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tools/bandwidth/fake_machine.hpp"
#include "tools/bandwidth/io_bytes.hpp"
#include "tools/bandwidth/judge.hpp"
#include "tools/bandwidth/row_fixture.hpp"

namespace hbf::tools::bandwidth {
namespace {

TEST(Judge, TheBestReferenceOfEachThreadCountCounts) {
    auto row = row_of(10, 12);
    row.references.push_back({measure::ReferenceCopy::streaming, 1, {11, 11, 11}});
    summarize(row);
    EXPECT_EQ(row.one_thread->reference, 2u);
    EXPECT_NEAR(row.one_thread->share, 10.0 / 11, 0.01);
    EXPECT_EQ(row.all_threads->reference, 1u);
    EXPECT_NEAR(row.all_threads->share, 10.0 / 12, 0.01);
}

TEST(Judge, AboveThePhysicalLimitIsAFailureOfTheTest) {
    FakeMachine machine;
    machine.places_[0].tier.nominal_bandwidth = 11'000'000'000;
    auto row = row_of(10, 12);
    judge(row, machine);
    EXPECT_EQ(row.status, Status::pass) << row.reason;
    ASSERT_TRUE(row.limit);
    EXPECT_NEAR(row.limit->share, 10.0 / 11, 0.01);
    machine.places_[0].tier.nominal_bandwidth = 9'000'000'000;
    auto above = row_of(10, 12);
    judge(above, machine);
    EXPECT_EQ(above.status, Status::fail);
    EXPECT_NE(above.reason.find("above the physical limit"), std::string::npos) << above.reason;
    auto hot = row_of(10, 12);
    hot.cache_hot = true; // it never reached the tier
    judge(hot, machine);
    EXPECT_EQ(hot.status, Status::pass) << hot.reason;
    machine.places_[0].tier.nominal_bandwidth = 0;
    auto unknown = row_of(10, 12);
    judge(unknown, machine);
    EXPECT_FALSE(unknown.limit);
}

TEST(Judge, CausesAreNamedWellBelowOneThread) {
    FakeMachine machine;
    machine.places_[0].tier.degraded = true;
    auto fine = row_of(8, 10), low = row_of(6, 10); // one thread of plain copy reaches 9
    judge(fine, machine);
    judge(low, machine);
    EXPECT_TRUE(fine.causes.empty());
    EXPECT_FALSE(low.causes.empty());
}

TEST(Judge, HalfAsFastAgainIsImpossible) {
    FakeMachine machine;
    machine.slack = 1;
    auto fine = row_of(14, 10);
    judge(fine, machine);
    EXPECT_EQ(fine.status, Status::pass);
    auto wrong = row_of(15.1, 10);
    judge(wrong, machine);
    EXPECT_EQ(wrong.status, Status::fail);
}

TEST(Judge, FloorsNeedTheWholeIntervalBelow) {
    FakeMachine machine;
    Floor floor{9.9, "p", "s", "2026-01-31"};
    auto near = row_of(9.895, 10); // its interval reaches 9.9
    judge_floor(near, machine, floor);
    EXPECT_EQ(near.status, Status::pass);
    auto below = row_of(9, 10);
    judge_floor(below, machine, floor);
    EXPECT_EQ(below.status, Status::fail);
    EXPECT_TRUE(has({below.reason}, "profile 'p' (s, 2026-01-31)")) << below.reason;
    auto none = row_of(1, 10);
    judge_floor(none, machine, std::nullopt);
    EXPECT_EQ(none.status, Status::pass);
}

TEST(IoBytes, KnowsTheKernelsCounters) {
    auto io = read_io_bytes();
    if (io) {
        EXPECT_GE(read_io_bytes()->read, io->read);
    }
    EXPECT_FALSE(read_io_bytes("/proc/self/status"));
    EXPECT_FALSE(read_io_bytes("/nonexistent"));
}

} // namespace
} // namespace hbf::tools::bandwidth
