// SPDX-License-Identifier: Apache-2.0
// A step a case: its measurements with all samples, what is wrong as a diagnosis, what could not be decided as an error.
#include "core/output/ocp.hpp"

#include <fmt/format.h>

#include "conformance/report/report.hpp"
#include "conformance/report/summary.hpp"

namespace hbf::conformance {
namespace {

Json measurement(const Metric &metric) {
    Json metadata = Json::object();
    if (metric.low != 0 || metric.high != 0) metadata.set("ci95_low", metric.low).set("ci95_high", metric.high);
    Json out = Json::object({{"name", metric.name}, {"unit", metric.unit}, {"value", metric.value}});
    return metadata.keys().empty() ? out : out.set("metadata", metadata);
}

void samples(OcpLines &lines, size_t step, const std::string &id, const Metric &metric) {
    if (metric.samples.empty()) return;
    lines.step(step, "measurementSeriesStart",
               Json::object({{"measurementSeriesId", id}, {"name", metric.name + ", each sample"}, {"unit", metric.unit}}));
    for (size_t i = 0; i < metric.samples.size(); ++i)
        lines.step(step, "measurementSeriesElement",
                   Json::object({{"index", i}, {"measurementSeriesId", id}, {"value", metric.samples[i]}}));
    lines.step(step, "measurementSeriesEnd",
               Json::object({{"measurementSeriesId", id}, {"totalCount", metric.samples.size()}}));
}

std::string message(const CaseRecord &record) {
    std::string out = record.reason;
    for (const Evidence &evidence : record.evidence)
        out += fmt::format("; {}: {} {}", evidence.fault_class, place(evidence), bytes(evidence));
    return out;
}

bool was_skipped(Status status) {
    return status == Status::not_supported || status == Status::not_observable || status == Status::not_run;
}

void step(OcpLines &lines, size_t id, const CaseRecord &record) {
    lines.step(id, "testStepStart", Json::object({{"name", title(record)}}));
    for (size_t i = 0; i < record.metrics.size(); ++i) {
        samples(lines, id, fmt::format("{}-{}", id, i), record.metrics[i]);
        lines.step(id, "measurement", measurement(record.metrics[i]));
    }
    // An error of the suite is procedural: no word about the plugin.
    const bool procedural = record.status == Status::internal_error || record.status == Status::inconclusive ||
                            record.status == Status::interrupted;
    if (procedural) {
        lines.step(id, "error", Json::object({{"symptom", to_string(record.status)}, {"message", message(record)}}));
    } else if (!was_skipped(record.status)) {
        const bool good = conformant(record.status);
        lines.step(id, "diagnosis",
                   Json::object({{"verdict", fmt::format("{}-{}", record.name, to_string(record.status))},
                                 {"type", good ? "PASS" : "FAIL"},
                                 {"message", message(record)}}));
    }
    lines.step(id, "testStepEnd",
               Json::object({{"status", procedural                   ? "ERROR"
                                        : was_skipped(record.status) ? "SKIP"
                                                                     : "COMPLETE"}}));
}

Json log_entry(const char *severity, const std::string &text) {
    return Json::object({{"severity", severity}, {"message", text}});
}

Json infos(const std::string &kind, const std::vector<std::string> &names) {
    auto out = Json::array();
    for (size_t i = 0; i < names.size(); ++i)
        out.push(Json::object({{fmt::format("{}InfoId", kind), std::to_string(i)}, {"name", names[i]}}));
    return out;
}

} // namespace

std::string report_ocp(const RunRecord &run) {
    OcpLines lines(run.started);
    Json dut = Json::object({{"dutInfoId", fact(run.device, "id")}, {"name", subject_line(run)}});
    dut.set("hardwareInfos", infos("hardware", {fact(run.device, "name"), fact(run.host, "cpu")}));
    dut.set("softwareInfos", infos("software", {subject_line(run), "kernel " + fact(run.host, "kernel")}));
    Json parameters = Json::object({{"seed", fmt::format("{:#x}", run.seed)}, {"profile", run.profile}});
    for (const std::string &banner : banners(run)) parameters.set(banner.substr(0, banner.find(':')), banner);
    lines.run("testRunStart", Json::object({{"name", "hbf conformance"},
                                            {"version", run.suite_version},
                                            {"commandLine", fmt::format("{}", fmt::join(run.command_line, " "))},
                                            {"parameters", parameters},
                                            {"dutInfo", dut}}));
    if (!run.preflight.summary.empty()) lines.run("log", log_entry("INFO", "preflight: " + run.preflight.summary));
    for (const std::string &failure : preflight_failures(run))
        lines.run("log", log_entry("WARNING", "preflight failed: " + failure));
    for (size_t i = 0; i < run.cases.size(); ++i) step(lines, i, run.cases[i]);
    const int code = exit_code(run);
    const bool decided = !run.interrupted && (code == 0 || code == 1);
    lines.run("testRunEnd", Json::object({{"status", decided      ? "COMPLETE"
                                                     : code == 77 ? "SKIP"
                                                                  : "ERROR"},
                                          {"result", !decided    ? "NOT_APPLICABLE"
                                                     : code == 0 ? "PASS"
                                                                 : "FAIL"}}));
    return lines.take();
}

} // namespace hbf::conformance
