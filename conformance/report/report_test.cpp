// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conformance/report/findings.hpp"
#include "conformance/report/plots.hpp"
#include "conformance/report/report.hpp"
#include "conformance/report/summary.hpp"
#include "conformance/report/testing/sample_run.hpp"
#include "conformance/runner/record_json.hpp"

namespace hbf::conformance {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

size_t count(const std::string &text, const std::string &what) {
    size_t out = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++out;
    return out;
}

TEST(Report, TextSaysVerdictCaseFaultTierAndAddress) {
    const std::string text = report_text(sample_run());
    EXPECT_THAT(text, AllOf(HasSubstr("NOT CONFORMANT: 7 of 17 cases failed"), HasSubstr("dma.copy.guard_bytes_untouched"),
                            HasSubstr("bit flip"), HasSubstr("tier vram0"), HasSubstr("address 0x7f0000001001"),
                            HasSubstr("expected 0x5a, actual 0x1a (differ in bit 6)"), HasSubstr("--seed 0x2a")));
    EXPECT_THAT(text, AllOf(HasSubstr("EMULATED device"), HasSubstr("FAULTS INJECTED on purpose: flip=after=3"),
                            HasSubstr("INTERRUPTED"), HasSubstr("edac.mc0.ce_count: 1 -> 4")));
    EXPECT_THAT(text, Not(HasSubstr("\x1b[31m"))) << "a plugin's text must not steer the terminal";
}

TEST(Report, APreflightThatFailedIsOnEveryFirstScreenAndChangesNoVerdict) {
    const RunRecord run = clean_run(1);
    const std::string failed = "preflight failed", found = "iommu.translation: addresses of 0000:02:00.0";
    const std::string text = report_text(run), html = report_html(run), ocp = report_ocp(run);
    EXPECT_LT(text.find(found), text.find("group "));
    EXPECT_LT(html.find(failed + ": " + found), html.find("<h2>"));
    EXPECT_THAT(html, AllOf(HasSubstr("&lt;are&gt;"), HasSubstr("boot with iommu=pt")));
    EXPECT_THAT(ocp, HasSubstr(failed + ": " + found));
    EXPECT_THAT(report_junit(run), HasSubstr("<property name=\"preflight.iommu.translation\" value=\"fail: addresses"));
    EXPECT_EQ(exit_code(run), 0);
    EXPECT_THAT(text, AllOf(HasSubstr("preflight: doctor: 1 pass"), HasSubstr("\nCONFORMANT: ")));
}

TEST(Report, TextListsWhatPassedOnlyWhenAsked) {
    EXPECT_THAT(report_text(clean_run(1)), Not(HasSubstr("tier.alloc.zero_size_rejected")));
    EXPECT_THAT(report_text(clean_run(1), {.all_cases = true}), HasSubstr("tier.alloc.zero_size_rejected"));
}

TEST(Report, FailuresComeBeforeWhatIsUndecided) {
    const RunRecord run = sample_run();
    const auto trouble = troubled(run);
    ASSERT_FALSE(trouble.empty());
    bool undecided = false;
    for (const CaseRecord *record : trouble) {
        undecided |= !failed(record->status);
        EXPECT_NE(failed(record->status), undecided) << record->name;
    }
    for (const CaseRecord &record : run.cases)
        EXPECT_TRUE(!failed(record.status) || std::count(trouble.begin(), trouble.end(), &record)) << record.name;
}

TEST(Report, TheMostTellingCaseOfAllThatWasFoundIsToldInFull) {
    RunRecord run = clean_run(1);
    CaseRecord one = run.cases.front();
    one.status = Status::fail;
    run.cases.clear();
    for (int i = 0; i < 30; ++i) {
        one.name = fmt::format("dma.copy.number_{}", i);
        one.evidence = {Evidence()};
        one.evidence.front().fault_class = i < 29 ? "corruption" : "stuck lane";
        one.evidence.front().detail = fmt::format("detail {} of {}", i, 30);
        run.cases.push_back(one);
    }
    const std::string text = report_text(run);
    EXPECT_THAT(text, AllOf(HasSubstr("detail 0 of"), HasSubstr("detail 18 of"), HasSubstr("detail 29 of")));
    EXPECT_THAT(text, AllOf(Not(HasSubstr("detail 19 of")), HasSubstr("dma.copy.number_19")));
}

TEST(Report, WhatManyCasesFoundStandsOnce) {
    RunRecord run = clean_run(1);
    EXPECT_THAT(findings(run), IsEmpty());
    EXPECT_THAT(report_text(run), Not(HasSubstr("what was found")));
    const auto add = [&](const char *name, std::string_view what, const char *tier, uint64_t wrong_bytes) {
        CaseRecord record;
        record.name = name;
        record.status = Status::fail;
        Evidence evidence;
        evidence.fault_class = what;
        evidence.tier = tier;
        evidence.wrong_bytes = wrong_bytes;
        record.evidence = {evidence};
        run.cases.push_back(record);
    };
    add("abi.first.of_all", fault::contract, "", 0);
    EXPECT_THAT(report_text(run), Not(HasSubstr("what was found"))) << "one case speaks for itself";
    add("dma.copy.a", fault::stale, "vram0", 0);
    add("tier.map.b", fault::stale, "hbf0", 4096);
    add("dma.copy.c", fault::stale, "hbf0", 0);
    const auto found = findings(run);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].what, fault::stale);
    EXPECT_THAT(found[0].cases, SizeIs(3));
    EXPECT_THAT(found[0].tiers, ElementsAre("hbf0", "vram0"));
    EXPECT_EQ(found[0].telling->name, "tier.map.b") << "it has a place";
    EXPECT_EQ(example(found[0]), "tier.map.b and 2 more");
    EXPECT_EQ(example(found[1]), "abi.first.of_all");
    EXPECT_THAT(report_text(run), ContainsRegex("stale[^\n]* 3  hbf0, vram0  tier.map.b"));
    const std::string html = report_html(run);
    EXPECT_LT(html.find("in 3 cases (hbf0, vram0): tier.map.b and 2 more"), html.find("abi.first.of_all"));
}

TEST(Report, JsonComesBackAsItWas) {
    const RunRecord run = sample_run();
    const auto parsed = Json::parse(report_json(run));
    ASSERT_TRUE(parsed) << parsed.error();
    const auto back = run_record_from(*parsed);
    ASSERT_TRUE(back) << back.error();
    EXPECT_EQ(report_json(*back), report_json(run));
    EXPECT_EQ(back->cases.front().seed, 0xfedcba9876543210u);
}

TEST(Report, JUnitCountsAgreeWithItsElements) {
    const std::string xml = report_junit(sample_run());
    EXPECT_THAT(xml, HasSubstr("tests=\"17\" failures=\"6\" errors=\"3\" skipped=\"3\""));
    EXPECT_EQ(count(xml, "<testcase "), 17u);
    EXPECT_EQ(count(xml, "<failure "), 6u);
    EXPECT_EQ(count(xml, "<error "), 3u);
    EXPECT_EQ(count(xml, "<skipped "), 3u);
    EXPECT_THAT(xml, AllOf(HasSubstr("&lt;/script&gt;"), Not(HasSubstr("\x1b")), Not(HasSubstr("\xff"))));
}

TEST(Report, OcpTellsVerdictsFromErrorsOfProcedure) {
    std::istringstream lines(report_ocp(sample_run()));
    std::string line, last;
    size_t number = 0, failures = 0, errors = 0;
    while (std::getline(lines, line)) {
        const auto json = Json::parse(line);
        ASSERT_TRUE(json) << line;
        EXPECT_EQ(json->get("sequenceNumber")->whole(), number++);
        failures += count(line, "\"type\":\"FAIL\"") + count(line, "\"type\": \"FAIL\"");
        errors += count(line, "\"symptom\"");
        last = line;
    }
    EXPECT_EQ(failures, 6u);
    EXPECT_EQ(errors, 3u);
    EXPECT_THAT(last, AllOf(HasSubstr("testRunEnd"), HasSubstr("NOT_APPLICABLE"))) << "an interrupted run passes nothing";
}

TEST(Report, HtmlFirstScreenComesBeforeTheRest) {
    const std::string html = report_html(sample_run());
    const size_t rest = html.find("<h2>");
    ASSERT_NE(rest, std::string::npos);
    EXPECT_THAT(html.substr(0, rest),
                AllOf(HasSubstr("NOT CONFORMANT"), HasSubstr("dma.copy.guard_bytes_untouched"), HasSubstr("bit flip"),
                      HasSubstr("vram0"), HasSubstr("0x7f0000001001"), HasSubstr("FAULTS INJECTED"), HasSubstr("EMULATED")));
    EXPECT_THAT(html, Not(HasSubstr("<script>alert(1)"))) << "a log must stay text";
    EXPECT_THAT(html, AllOf(Not(HasSubstr("src=\"http")), Not(HasSubstr("href=\"http"))));
}

TEST(Report, ADistributionHoldsEverySample) {
    const Series series = distribution("latency", "ns", {1, 2, 2, 3, 9, 9, 9, 9});
    double total = 0;
    for (const auto &point : series.points) total += point.y;
    EXPECT_EQ(total, 8);
    EXPECT_EQ(distribution("same", "ns", {5, 5, 5}).points.size(), 1u);
    EXPECT_TRUE(distribution("none", "ns", {}).points.empty());
}

} // namespace
} // namespace hbf::conformance
