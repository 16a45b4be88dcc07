// SPDX-License-Identifier: Apache-2.0
#include <set>

#include <gmock/gmock.h>

#include "conformance/litmus/sequential.hpp"
#include "conformance/litmus/shapes.hpp"

namespace hbf::litmus {
namespace {

bool reachable(const Shape &shape) {
    for (const Observed &seen : sequential_outcomes(shape))
        if (asked(shape, seen)) return true;
    return false;
}

void expect_within_limits(const Shape &shape) {
    EXPECT_LE(shape.agents.size(), most_agents);
    EXPECT_LE(shape.registers(), most_registers);
    EXPECT_LE(shape.locations(), most_locations);
    EXPECT_FALSE(shape.asked.empty());
    for (const Outcome &outcome : shape.asked)
        for (const Condition &condition : outcome)
            EXPECT_LT(condition.index, condition.final ? shape.locations() : shape.registers()) << shape.name;
}

TEST(Shapes, AForbiddenOutcomeIsOneThatNoInterleavingHas) {
    for (const ShapeTest &test : tests()) {
        expect_within_limits(test.shape);
        EXPECT_EQ(test.shape.rule, Rule::forbidden) << test.shape.name;
        EXPECT_FALSE(reachable(test.shape)) << test.shape.name << ": " << to_string(test.shape);
    }
}

TEST(Shapes, AControlWithItsOrderTurnedRoundShowsItInSomeInterleaving) {
    for (const ShapeTest &test : tests())
        for (const Control &control : test.controls) {
            expect_within_limits(control.shape);
            EXPECT_EQ(control.shape.rule, Rule::allowed) << control.shape.name;
            EXPECT_EQ(reachable(control.shape), control.mutation == "order turned round") << control.shape.name;
        }
}

TEST(Shapes, EveryShapeHasAControlForEveryMachineAndANameOfItsOwn) {
    std::set<std::string_view> names;
    for (const ShapeTest &test : tests()) {
        EXPECT_TRUE(names.insert(test.shape.name).second) << test.shape.name;
        unsigned everywhere = 0; // seen without any weak behaviour
        for (const Control &control : test.controls) {
            everywhere += control.mutation == "order turned round";
            EXPECT_EQ(control.shape.agents.size(), test.shape.agents.size()) << control.shape.name;
        }
        EXPECT_GE(everywhere, 1u) << test.shape.name;
    }
    EXPECT_EQ(&test_of("IRIW.sc"), &tests().back());
}

TEST(Shapes, AreSaidAsTheyAreWritten) {
    EXPECT_EQ(to_string(test_of("MP.rel.acq").shape), "x=1; y=1 rel | r0=y acq; r1=x");
    EXPECT_EQ(to_string(test_of("SB.fence").shape), "x=1; fence sc; r0=y | y=1; fence sc; r1=x");
    EXPECT_EQ(to_string(test_of("CoWR").shape.asked.back()), "r0=2 [x]=1");
}

TEST(Sequential, MessagePassingHasThreeOutcomes) {
    const Shape &shape = test_of("MP.rel.acq").shape;
    std::set<std::string> seen;
    for (const Observed &one : sequential_outcomes(shape)) seen.insert(to_string(shape, one));
    EXPECT_THAT(seen,
                testing::UnorderedElementsAre("r0=0 r1=0 [x]=1 [y]=1", "r0=0 r1=1 [x]=1 [y]=1", "r0=1 r1=1 [x]=1 [y]=1"));
}

TEST(Histogram, CountsWhatWasAskedAndWhatCannotBe) {
    const Shape &shape = test_of("MP.rel.acq").shape;
    Histogram histogram;
    histogram.add({{1, 0}, {1, 1}}, 3);
    histogram.add({{1, 1}, {1, 1}}, 5);
    histogram.add({{1, alien_value}, {1, 1}}, 2);
    EXPECT_EQ(histogram.instances, 10u);
    EXPECT_EQ(histogram.asked(shape), 3u);
    EXPECT_EQ(histogram.impossible(), 2u);
    EXPECT_EQ(histogram.violations(shape), 5u);
    Histogram sum;
    sum.add(histogram);
    sum.add(histogram);
    EXPECT_EQ(sum.instances, 20u);
    EXPECT_EQ(sum.counts.size(), 3u);
}

} // namespace
} // namespace hbf::litmus
