// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "core/output/ocp.hpp"
#include "tools/bandwidth/judge.hpp"
#include "tools/bandwidth/report.hpp"
#include "tools/cli/version.hpp"

namespace hbf::tools::bandwidth {
namespace {

Json bandwidth_measurement(const Row &row) {
    auto validators = Json::array();
    if (row.floor)
        validators.push(ocp_validator("GREATER_THAN_OR_EQUAL", "floor of profile " + row.floor->profile, row.floor->gbs));
    if (const auto most = highest_possible(row)) {
        validators.push(ocp_validator("LESS_THAN_OR_EQUAL", "1.5 times the fastest plain copy of this run", *most));
    }
    auto out = Json::object({{"name", "bandwidth"}, {"unit", "GB/s"}, {"value", row.queue.median}});
    if (validators.size() > 0) out.set("validators", validators);
    return out.set("metadata", Json::object({{"ci95_low", row.queue.ci95 ? Json(row.queue.ci95->low) : Json()},
                                             {"ci95_high", row.queue.ci95 ? Json(row.queue.ci95->high) : Json()},
                                             {"contended", row.is_contended()},
                                             {"emulated", row.emulated}}));
}

void samples(OcpLines &lines, size_t id, const Row &row) {
    const auto series = std::to_string(id);
    lines.step(id, "measurementSeriesStart",
               Json::object({{"measurementSeriesId", series}, {"name", "bandwidth of each sample"}, {"unit", "GB/s"}}));
    for (size_t i = 0; i < row.gbs.size(); ++i) {
        lines.step(id, "measurementSeriesElement",
                   Json::object({{"index", i}, {"measurementSeriesId", series}, {"value", row.gbs[i]}}));
    }
    lines.step(id, "measurementSeriesEnd", Json::object({{"measurementSeriesId", series}, {"totalCount", row.gbs.size()}}));
}

void row_lines(OcpLines &lines, size_t id, const Row &row) {
    lines.step(id, "testStepStart", Json::object({{"name", transfer_name(row)}}));
    const bool judged = row.status == Status::pass || row.status == Status::fail;
    uint64_t wrong = 0;
    for (const auto &one : row.samples) wrong += one.sample.mismatch ? one.sample.mismatch->wrong_words : 0;
    if (judged && !row.samples.empty()) {
        lines.step(id, "measurement",
                   Json::object({{"name", "wrong words"},
                                 {"value", wrong},
                                 {"validators", Json::array().push(ocp_validator("EQUAL", "no data loss", 0))}}));
    }
    // Bytes that did not arrive have no speed.
    if (wrong == 0 && judged && !row.gbs.empty()) {
        samples(lines, id, row);
        lines.step(id, "measurement", bandwidth_measurement(row));
    }
    if (judged) {
        const bool pass = row.status == Status::pass;
        lines.step(id, "diagnosis",
                   Json::object({{"verdict", pass ? "bandwidth-pass" : "bandwidth-fail"},
                                 {"type", pass ? "PASS" : "FAIL"},
                                 {"message", pass ? figure(row) : row.reason}}));
    } else if (row.status == Status::error) {
        lines.step(id, "error", Json::object({{"symptom", "bandwidth-not-measured"}, {"message", row.reason}}));
    }
    const char *end = row.status == Status::error ? "ERROR" : row.status == Status::skipped ? "SKIP" : "COMPLETE";
    lines.step(id, "testStepEnd", Json::object({{"status", end}}));
}

} // namespace

std::string report_ocp(const Run &run, const Machine &machine, const Options &options) {
    OcpLines lines(run.started);
    const auto &inventory = machine.inventory();
    auto software = Json::array();
    software.push(Json::object({{"softwareInfoId", "0"}, {"name", "kernel"}, {"version", inventory.kernel}}));
    software.push(Json::object({{"softwareInfoId", "1"}, {"name", "libhbf"}, {"version", run.libhbf_version}}));
    auto hardware = Json::array();
    hardware.push(Json::object({{"hardwareInfoId", "0"}, {"name", inventory.cpu_model}}));
    lines.run("testRunStart", Json::object({{"name", "hbf bandwidth"},
                                            {"version", tool_version()},
                                            {"commandLine", fmt::format("{}", fmt::join(options.arguments, " "))},
                                            {"parameters", Json::object({{"seed", run.seed}})},
                                            {"dutInfo", Json::object({{"dutInfoId", inventory.boot_id},
                                                                      {"softwareInfos", software},
                                                                      {"hardwareInfos", hardware}})}}));
    for (size_t i = 0; i < run.rows.size(); ++i) row_lines(lines, i, run.rows[i]);
    const auto exit = verdict(run);
    lines.run("testRunEnd", Json::object({{"status", exit == Exit::error      ? "ERROR"
                                                     : exit == Exit::untested ? "SKIP"
                                                                              : "COMPLETE"},
                                          {"result", exit == Exit::pass   ? "PASS"
                                                     : exit == Exit::fail ? "FAIL"
                                                                          : "NOT_APPLICABLE"}}));
    return lines.take();
}

} // namespace hbf::tools::bandwidth
