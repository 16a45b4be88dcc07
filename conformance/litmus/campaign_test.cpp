// SPDX-License-Identifier: Apache-2.0
// A campaign passes only what it could have failed.
#include <gmock/gmock.h>

#include "conformance/litmus/campaign.hpp"
#include "conformance/litmus/harness.hpp"
#include "conformance/litmus/testing.hpp"

namespace hbf::litmus {
namespace {

using ::testing::HasSubstr;
using testing::Memory;
using ::testing::StartsWith;
using testing::two_cpus;

const Shape always{"always", {agent<store(x, 1)>(), agent<load(x)>()}, {{last(x, 1)}}, Rule::allowed};
const Shape never{"never", {agent<store(x, 1)>(), agent<load(x)>()}, {{reg(0, 2)}}, Rule::allowed};

ShapeTest sound(std::vector<Control> controls) {
    return {{"sound", {agent<store(x, 1)>(), agent<load(x)>()}, {{last(x, 0)}}, Rule::forbidden}, std::move(controls)};
}

TEST(Confidence, NeedsTheSightingsOfThePoissonLaw) {
    EXPECT_EQ(needed_sightings(0.95), 3u);
    EXPECT_EQ(needed_sightings(0.999), enough_sightings);
    EXPECT_EQ(needed_sightings(0.99999), 12u);
}

TEST(Campaign, HoldsWhenTheControlWasSeen) {
    const Memory memory;
    Harness harness(2, memory.arena(), 1);
    const ShapeTest test = sound({{always, "none"}});
    const Report report = run_campaign(harness, test, {0.01, 10}, 1);
    EXPECT_EQ(report.finding, Finding::holds);
    EXPECT_GE(report.controls[0].seen, 7u);
    EXPECT_GT(report.confidence(), 0.99);
    EXPECT_THAT(score_line(report), StartsWith("mutation score 1/1, weakest always"));
    EXPECT_THAT(observation_line(*report.shape, report.histogram), HasSubstr("Observation sound Never 0/"));
}

TEST(Campaign, IsInconclusiveWhenNoControlWasSeen) {
    const Memory memory;
    Harness harness(2, memory.arena(), 1);
    const ShapeTest test = sound({{never, "none"}});
    const Report report = run_campaign(harness, test, {0.01, 0.2}, 1);
    EXPECT_EQ(report.finding, Finding::inconclusive);
    EXPECT_EQ(report.confidence(), 0);
    EXPECT_THAT(score_line(report), StartsWith("mutation score 0/1, weakest never 0/s"));
}

TEST(Campaign, OneControlOfSeveralIsEnough) {
    const Memory memory;
    Harness harness(2, memory.arena(), 1);
    const ShapeTest test = sound({{always, "none"}, {never, "none"}});
    const Report report = run_campaign(harness, test, {0.01, 10}, 1);
    EXPECT_EQ(report.finding, Finding::holds);
    EXPECT_THAT(score_line(report), HasSubstr("mutation score 1/2"));
}

TEST(Campaign, IsViolatedByWhatIsSeenTwice) {
    const Memory memory;
    Harness harness(2, memory.arena(), 1);
    ShapeTest test = sound({{always, "none"}});
    test.shape = always;
    test.shape.rule = Rule::forbidden;
    const Report report = run_campaign(harness, test, {0.01, 10}, 1);
    EXPECT_EQ(report.finding, Finding::violated);
    EXPECT_GE(report.violations(), 2u);
    EXPECT_FALSE(report.dumps.empty());
    EXPECT_EQ(observation_line(test.shape, report.histogram).find("Observation always Always"), 0u);
}

// The shapes of the suite, with a mutant in the place of each: every one is found out by its own question.
TEST(Campaign, FindsEachShapeMutated) {
    if (!two_cpus()) GTEST_SKIP() << "agents must run together: two CPUs";
    const Memory memory;
    Harness harness(2, memory.arena(), 1);
    for (const ShapeTest &test : tests()) {
        if (test.shape.agents.size() > 2) continue;
        for (const Control &control : test.controls) {
            if (control.mutation != "order turned round" && !total_store_order)
                continue; // an emulated machine may not show it
            ShapeTest mutant = test;
            mutant.shape.agents = control.shape.agents;
            mutant.shape.asked = control.shape.asked;
            // One control may be seen a hundred times less often than another, least of all on a busy machine.
            Report report;
            for (double least_s = 0.05; least_s < 20 && report.finding != Finding::violated; least_s *= 2)
                report = run_campaign(harness, mutant, {least_s, 20}, 1);
            EXPECT_EQ(report.finding, Finding::violated) << control.shape.name << ": " << score_line(report);
        }
    }
}

} // namespace
} // namespace hbf::litmus
