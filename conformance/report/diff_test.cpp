// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conformance/report/diff.hpp"
#include "conformance/report/testing/sample_run.hpp"

namespace hbf::conformance {
namespace {

using testing::HasSubstr;

Metric &figure(RunRecord &run) {
    return run.cases.back().metrics.front();
}

void scale(Metric &metric, double factor) {
    metric.value *= factor;
    metric.low *= factor;
    metric.high *= factor;
}

TEST(Diff, RunsOfTheSameAreNotWorse) {
    const Comparison comparison = compare(clean_run(1), clean_run(2), 0.02);
    EXPECT_EQ(exit_code(comparison), 0);
    EXPECT_TRUE(comparison.cases.empty());
    EXPECT_EQ(comparison.compared_figures, 1u);
    EXPECT_THAT(comparison_text(comparison), HasSubstr("NOTHING WORSE: 4 cases and 1 figures compared"));
}

TEST(Diff, AFigureIsWorseOnlyWithItsWholeInterval) {
    RunRecord slower = clean_run(1);
    scale(figure(slower), 0.9);
    const Comparison comparison = compare(clean_run(1), slower, 0.02);
    EXPECT_EQ(exit_code(comparison), 1);
    ASSERT_EQ(comparison.figures.size(), 1u);
    EXPECT_EQ(comparison.figures[0].change, Change::worse);

    figure(slower).high *= 1.2; // the same median, but it may as well be none
    EXPECT_EQ(exit_code(compare(clean_run(1), slower, 0.02)), 0);
}

TEST(Diff, LessTimeIsBetterAndMoreIsWorse) {
    RunRecord before = clean_run(1), after = clean_run(1);
    figure(before).unit = figure(after).unit = "ns";
    scale(figure(after), 1.5);
    EXPECT_EQ(exit_code(compare(before, after, 0.02)), 1);
    EXPECT_EQ(exit_code(compare(after, before, 0.02)), 0);
}

TEST(Diff, AFailureIsWorseAndADriverIsNamed) {
    RunRecord after = clean_run(1);
    after.cases[1].status = Status::fail;
    after.cases[1].reason = "byte 3 is wrong";
    after.device[2].second = "acme 13";
    const Comparison comparison = compare(clean_run(1), after, 0.02);
    EXPECT_EQ(exit_code(comparison), 1);
    const std::string text = comparison_text(comparison);
    EXPECT_THAT(text, HasSubstr("dma.copy.guard_bytes_untouched"));
    EXPECT_THAT(text, HasSubstr("byte 3 is wrong"));
    EXPECT_THAT(text, HasSubstr("acme 13"));
    EXPECT_EQ(exit_code(compare(after, clean_run(1), 0.02)), 0);
}

TEST(Diff, WhatIsNotSupportedAnyMoreIsWorse) {
    RunRecord after = clean_run(1);
    after.cases[0].status = Status::not_supported;
    EXPECT_EQ(exit_code(compare(clean_run(1), after, 0.02)), 1);
}

TEST(Diff, RunsWithoutACommonCaseAreNotCompared) {
    RunRecord other = clean_run(1);
    for (CaseRecord &record : other.cases) record.name += ".other";
    EXPECT_EQ(exit_code(compare(clean_run(1), other, 0.02)), 3);
}

TEST(Diff, FiguresOfAFailedCaseAreNotCompared) {
    RunRecord after = clean_run(1);
    scale(figure(after), 100);
    after.cases.back().status = Status::fail;
    EXPECT_TRUE(compare(clean_run(1), after, 0.02).figures.empty());
}

} // namespace
} // namespace hbf::conformance
