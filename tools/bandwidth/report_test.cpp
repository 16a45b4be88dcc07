// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tools/bandwidth/fake_machine.hpp"
#include "tools/bandwidth/judge.hpp"
#include "tools/bandwidth/report.hpp"

namespace hbf::tools::bandwidth {
namespace {

Row row_of(std::vector<double> gbs) {
    Row row;
    row.src = row.dst = "dram0 (hbm, DRAM, node 0)";
    row.executor = "host queue";
    row.wall_gbs = row.gbs = std::move(gbs);
    row.samples.resize(row.gbs.size());
    row.warmup_stable = true;
    summarize(row);
    return row;
}

Run run_of(Row row) {
    Run run;
    run.seed = 7;
    run.rows.push_back(std::move(row));
    return run;
}

TEST(ClosingLine, IsTheAgreedOne) {
    EXPECT_EQ(closing_line(run_of(row_of({310.0, 311, 312.4, 312.4, 313, 316.1}))), "Measured bandwidth: 312 GB/s ± 1.2%");
    EXPECT_EQ(closing_line(run_of(row_of({312.0, 312.1, 312.4, 312.4, 312.9, 313}))),
              "Measured bandwidth: 312.4 GB/s ± 0.2%");
}

TEST(ClosingLine, SaysWhatMustStandBesideTheNumber) {
    auto row = row_of({9, 9, 9, 9, 9, 9});
    row.emulated = true;
    EXPECT_EQ(closing_line(run_of(row)), "Measured bandwidth: 9.000 GB/s ± 0.0% [emulated]");
    row.emulated = false;
    row.contended = 6;
    EXPECT_EQ(closing_line(run_of(row)), "Measured bandwidth: 9.000 GB/s ± 0.0% CONTENDED (6 of 6 samples)");
    EXPECT_EQ(closing_line(run_of(row_of({9, 9, 9}))),
              "Measured bandwidth: 9.000 GB/s (3 samples are too few for an interval)");
    EXPECT_EQ(closing_line({}), "No bandwidth: nothing to test");
}

TEST(ReportText, SaysEmulatedOnEveryLineOfTheRow) {
    FakeMachine machine;
    auto row = row_of({9, 9, 9, 9, 9, 9});
    row.emulated = true;
    row.notes = {"a note"};
    row.causes = {"a cause"};
    Options options;
    options.verbose = true;
    const auto text = report_text(run_of(row), machine, options);
    size_t lines = 0, emulated = 0;
    for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
        const auto line = text.substr(at, text.find('\n', at) - at);
        ++lines;
        emulated += line.ends_with("[emulated]");
    }
    EXPECT_EQ(lines, emulated + 2) << text; // but the machine and the seed
}

TEST(ReportJson, ParsesAndKeepsNumbersAsNumbers) {
    FakeMachine machine;
    auto row = row_of({9, 9.1, 9.2, 9.3, 9.4, 9.5});
    row.src = "quote \" and broken \xff utf-8";
    Options options;
    options.arguments = {"hbf", "bandwidth", "--json"};
    auto run = run_of(row);
    const auto json = nlohmann::json::parse(report_json(run, machine, options));
    EXPECT_EQ(json["schema"], "hbf.bandwidth");
    EXPECT_EQ(json["schema_version"], schema_version);
    EXPECT_EQ(json["arguments"].size(), 3u);
    const auto &first = json["rows"][0];
    EXPECT_EQ(first["unit"], "GB/s");
    EXPECT_TRUE(first["bandwidth"]["median"].is_number());
    EXPECT_DOUBLE_EQ(first["bandwidth"]["ci95_low"], 9);
    EXPECT_EQ(first["samples"].size(), 6u);
    EXPECT_DOUBLE_EQ(first["samples"][2]["bandwidth"], 9.2);
    EXPECT_EQ(first["samples"][2]["verified"], true);
    EXPECT_EQ(first["floor"], nullptr);
}

TEST(ReportJson, AFailedRowHasNoBandwidth) {
    FakeMachine machine;
    auto row = row_of({9, 9, 9, 9, 9, 9});
    row.status = Status::fail;
    row.samples[5].sample.mismatch = measure::Mismatch{64, 1, 2, 3, 4, "a guess"};
    auto run = run_of(row);
    const auto json = nlohmann::json::parse(report_json(run, machine, {}));
    EXPECT_EQ(json["status"], "fail");
    EXPECT_EQ(json["rows"][0]["bandwidth"], nullptr);
    EXPECT_EQ(json["rows"][0]["wall_bandwidth"], nullptr);
    EXPECT_EQ(json["rows"][0]["samples"][5]["mismatch"]["offset"], 64);
    EXPECT_EQ(json["rows"][0]["samples"][5]["verified"], false);
}

TEST(ReportCsv, HasALineASample) {
    auto run = run_of(row_of({9, 9, 9}));
    const auto csv = report_csv(run);
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 4);
    EXPECT_NE(csv.find("\"dram0 (hbm, DRAM, node 0)\",\"host queue\""), std::string::npos);
}

TEST(ReportOcp, IsJsonLinesWithValidatorsAndADiagnosis) {
    FakeMachine machine;
    auto row = row_of({9, 9, 9, 9, 9, 9});
    row.references.push_back({measure::ReferenceCopy::libc_memcpy, 1, {10, 12}});
    row.floor = Floor{5, "p", "s", "d"};
    auto run = run_of(row);
    run.rows.push_back(row_of({9, 9, 9, 9, 9, 9}));
    run.rows[1].status = Status::fail;
    run.rows[1].reason = "data_loss: here";
    run.rows[1].samples[5].sample.mismatch = measure::Mismatch{64, 1, 2, 3, 4, "a guess"};
    std::vector<nlohmann::json> lines;
    const auto text = report_ocp(run, machine, {});
    for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
        lines.push_back(nlohmann::json::parse(text.substr(at, text.find('\n', at) - at)));
        EXPECT_EQ(lines.back()["sequenceNumber"], lines.size() - 1);
    }
    EXPECT_EQ(lines.front()["schemaVersion"]["major"], 2);
    EXPECT_TRUE(lines[1]["testRunArtifact"].contains("testRunStart"));
    EXPECT_EQ(lines.back()["testRunArtifact"]["testRunEnd"]["result"], "FAIL");
    size_t diagnoses = 0, figures = 0;
    for (const auto &line : lines) {
        const auto step = line.value("testStepArtifact", nlohmann::json::object());
        if (step.contains("diagnosis")) {
            EXPECT_EQ(step["diagnosis"]["type"], diagnoses++ == 0 ? "PASS" : "FAIL");
        }
        if (step.value("measurement", nlohmann::json::object()).value("name", "") != "bandwidth") continue;
        ++figures;
        EXPECT_EQ(step["measurement"]["value"], 9);
        EXPECT_EQ(step["measurement"]["validators"][0]["value"], 5);
        EXPECT_EQ(step["measurement"]["validators"][1]["value"], 18);
    }
    EXPECT_EQ(diagnoses, 2u);
    EXPECT_EQ(figures, 1u); // what lost data has no bandwidth
}

TEST(Verdict, FailBeforeErrorBeforePass) {
    bandwidth::Run run;
    EXPECT_EQ(verdict(run), Exit::untested);
    auto add = [&](Status status) {
        run.rows.push_back(row_of({1}));
        run.rows.back().status = status;
        return verdict(run);
    };
    EXPECT_EQ(add(Status::skipped), Exit::untested);
    EXPECT_EQ(add(Status::pass), Exit::pass);
    EXPECT_EQ(add(Status::error), Exit::error);
    EXPECT_EQ(add(Status::fail), Exit::fail);
}

} // namespace
} // namespace hbf::tools::bandwidth
