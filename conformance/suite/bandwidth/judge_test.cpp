// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "conformance/suite/bandwidth/judge.hpp"
#include "conformance/suite/verdict.hpp"

namespace hbf::conformance {
namespace {

constexpr double gb = 1e9;

std::vector<double> around(double value) {
    return {0.98 * value, 0.99 * value, value, 1.01 * value, 1.02 * value, 0.97 * value, 1.03 * value};
}

TEST(JudgeSpeed, NothingDeclaredHasNoFloor) {
    const auto verdict = judge_speed({.samples = around(0.001 * gb), .reference = 10 * gb});
    EXPECT_EQ(verdict.fault_class, "");
    EXPECT_NE(verdict.note, "");
}

TEST(JudgeSpeed, HalfAsFastAgainAsThePlainCopyIsImpossible) {
    EXPECT_EQ(judge_speed({.samples = around(14 * gb), .reference = 10 * gb}).fault_class, "");
    EXPECT_EQ(judge_speed({.samples = around(16 * gb), .reference = 10 * gb}).fault_class, fault::impossible_speed);
    EXPECT_EQ(judge_speed({.samples = around(1600 * gb)}).fault_class, "") << "nothing to hold it against";
}

TEST(JudgeSpeed, ASingleFastSampleSaysNothing) {
    auto samples = around(10 * gb);
    samples.push_back(100 * gb);
    EXPECT_EQ(judge_speed({.samples = samples, .reference = 10 * gb}).fault_class, "");
}

TEST(JudgeSpeed, AboveTheDeclaredPeakOnlyWhereNoCacheHelps) {
    EXPECT_EQ(judge_speed({.samples = around(1.04 * gb), .declared = gb}).fault_class, "");
    EXPECT_EQ(judge_speed({.samples = around(1.1 * gb), .declared = gb}).fault_class, fault::impossible_speed);
    EXPECT_EQ(judge_speed({.samples = around(10 * gb), .declared = gb, .cold = false}).fault_class, "");
    EXPECT_EQ(judge_speed({.samples = around(30 * gb), .declared = gb, .cold = false}).fault_class, fault::impossible_speed);
}

TEST(JudgeSpeed, BelowTheDeclaredFloorOnlyWithTheWholeInterval) {
    EXPECT_EQ(judge_speed({.samples = around(0.4 * gb), .declared = gb}).fault_class, fault::too_slow);
    EXPECT_EQ(judge_speed({.samples = around(0.49 * gb), .declared = gb}).fault_class, "") << "the interval reaches over it";
    EXPECT_EQ(judge_speed({.samples = around(0.4 * gb), .declared = gb, .floor = false}).fault_class, "");
}

TEST(JudgeSpeed, OthersExplainMuchButNotEverything) {
    const auto little = judge_speed({.samples = around(0.1 * gb), .declared = gb, .contended = true});
    EXPECT_EQ(little.fault_class, "");
    EXPECT_NE(little.note, "");
    EXPECT_EQ(judge_speed({.samples = around(0.01 * gb), .declared = gb, .contended = true}).fault_class, fault::too_slow);
}

TEST(JudgeLatency, OnlyADeclaredOneCanBeMissed) {
    EXPECT_EQ(judge_latency(around(1e9), 0, false).fault_class, "");
    EXPECT_EQ(judge_latency(around(1e6), 1000, false).fault_class, "") << "a command's own way is not the medium's";
    EXPECT_EQ(judge_latency(around(2e7), 1000, false).fault_class, fault::too_slow);
    EXPECT_EQ(judge_latency(around(2e7), 1000, true).fault_class, "");
    EXPECT_EQ(judge_latency(around(2e8), 1000, true).fault_class, fault::too_slow);
}

} // namespace
} // namespace hbf::conformance
