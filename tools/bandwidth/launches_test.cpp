// SPDX-License-Identifier: Apache-2.0
#include <csignal>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tools/bandwidth/launches.hpp"
#include "tools/bandwidth/report.hpp"

namespace hbf::tools::bandwidth {
namespace {

Launch of(double median, const std::string &more = "", const std::string &status = "pass") {
    return {
        0,
        fmt::format(R"({{"started": "now", "elapsed_seconds": 2, "interrupted": false, "rows": [{{"transfer": "a -> q -> b",
            "status": "{}", "reason": "why", "bandwidth": {{"median": {}}} {}}}]}})",
                    status, median, more),
        ""};
}

TEST(Launches, SixGiveAnIntervalOverTheirMedians) {
    auto combined = combine({of(10), of(10.5), of(9.5), of(10), of(10), of(10)});
    ASSERT_TRUE(combined) << combined.error();
    EXPECT_EQ(closing_line(combined->run), "Measured bandwidth: 10.0 GB/s ± 5.0%");
    EXPECT_DOUBLE_EQ(combined->run.elapsed_seconds, 12);
    const auto text = launches_text(combined->run);
    EXPECT_NE(text.find("PASS  a -> q -> b  10.0 GB/s"), std::string::npos) << text;
    EXPECT_NE(text.find("10.00, 10.50, 9.500, 10.00"), std::string::npos) << text;
    EXPECT_NE(text.find("order statistics over the launches"), std::string::npos) << text;
    const auto json = Json::parse(launches_json(*combined, {}));
    ASSERT_TRUE(json);
    EXPECT_EQ(json->get("documents")->size(), 6u);
    EXPECT_DOUBLE_EQ(*json->get("rows")->at(0)->get("ci95_high")->number(), 10.5);
}

TEST(Launches, FewerGiveNone) {
    auto combined = combine({of(10), of(10.5), of(9.5), of(10), of(10)});
    ASSERT_TRUE(combined);
    EXPECT_EQ(closing_line(combined->run), "Measured bandwidth: 10.00 GB/s (5 launches are too few for an interval)");
    EXPECT_NE(launches_text(combined->run).find("no ±"), std::string::npos);
}

TEST(Launches, OneThatFailsIsNotOutvoted) {
    auto combined = combine({of(10), of(10), of(0, "", "error"), of(0, "", "fail"), of(10)});
    ASSERT_TRUE(combined);
    EXPECT_EQ(verdict(combined->run), Exit::fail);
    EXPECT_EQ(combined->run.rows[0].reason, "launch 4: why");
    EXPECT_EQ(launches_text(combined->run).find("Measured bandwidth"), std::string::npos);
}

TEST(Launches, WhatStandsBesideAFigureStaysBesideIt) {
    auto combined = combine({of(10, R"(, "contended": true, "emulated": true)"), of(10, R"(, "cache_hot": true)")});
    ASSERT_TRUE(combined);
    const auto line = closing_line(combined->run);
    for (const char *part : {"CONTENDED (1 of 2 launches)", "[emulated]", "cache-hot"})
        EXPECT_NE(line.find(part), std::string::npos) << line;
}

TEST(Launches, OneWithoutAReportIsAnErrorWithItsWords) {
    auto combined = combine({of(10), {3, "", "hbf bandwidth: the reason\n"}});
    ASSERT_FALSE(combined);
    EXPECT_EQ(combined.error(), "launch 2 left no report (exit code 3): hbf bandwidth: the reason");
    auto other = of(10);
    other.document = R"({"rows": []})";
    EXPECT_NE(combine({of(10), other}).error().find("changed"), std::string::npos);
}

TEST(Launch, KeepsOutputMessagesAndExitCode) {
    auto done = launch("/bin/sh", {"sh", "-c", "echo out; echo err >&2; exit 7"}, [] { return 0; });
    ASSERT_TRUE(done) << done.error();
    EXPECT_EQ(done->document, "out\n");
    EXPECT_EQ(done->messages, "err\n");
    EXPECT_EQ(done->exit_code, 7);
    // More than a pipe holds, on both.
    done = launch("/bin/sh", {"sh", "-c", "head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero"}, [] { return 0; });
    ASSERT_TRUE(done);
    EXPECT_EQ(done->document.size() + done->messages.size(), 600000u);
    EXPECT_FALSE(launch("/no/such/program", {"x"}, [] { return 0; }));
}

TEST(Launch, PassesASignalOnOnce) {
    auto done = launch("/bin/sh", {"sh", "-c", "kill -STOP $$; exit 1"}, [] { return SIGKILL; });
    ASSERT_TRUE(done);
    EXPECT_EQ(done->exit_code, 128 + SIGKILL);
}

} // namespace
} // namespace hbf::tools::bandwidth
