// SPDX-License-Identifier: Apache-2.0
// JUnit XML as CI systems read it: failure for a wrong plugin, error where nothing was decided, skipped where there was
// nothing to ask.
#include <fmt/format.h>

#include "conformance/report/markup.hpp"
#include "conformance/report/report.hpp"
#include "conformance/report/summary.hpp"

namespace hbf::conformance {
namespace {

enum class Kind { plain, failure, error, skipped };

Kind kind_of(Status status) {
    switch (status) {
    case Status::fail:
    case Status::crash:
    case Status::timeout:
    case Status::device_lost:
    case Status::xpass:
        return Kind::failure;
    case Status::internal_error:
    case Status::inconclusive:
    case Status::interrupted:
        return Kind::error;
    case Status::not_supported:
    case Status::not_observable:
    case Status::not_run:
        return Kind::skipped;
    default:
        return Kind::plain;
    }
}

std::string detail(const CaseRecord &record) {
    std::string out = record.reason + "\n";
    for (const Evidence &evidence : record.evidence)
        out += fmt::format("{}: {} {} {}\n", evidence.fault_class, place(evidence), bytes(evidence), evidence.detail);
    return out + fmt::format("rules {}\nagain: {}\n", fmt::join(record.rules, ", "), record.replay);
}

std::string case_xml(const CaseRecord &record, const std::string &group) {
    const std::string attributes = fmt::format("classname=\"{}\" name=\"{}\" time=\"{:.6f}\"", escape_markup(group),
                                               escape_markup(title(record)), record.duration_s + record.overhead_s);
    std::string inside;
    const char *element = nullptr;
    switch (kind_of(record.status)) {
    case Kind::failure:
        element = "failure";
        break;
    case Kind::error:
        element = "error";
        break;
    case Kind::skipped:
        inside =
            fmt::format("      <skipped message=\"{}: {}\"/>\n", to_string(record.status), escape_markup(record.reason));
        break;
    case Kind::plain:
        break;
    }
    if (element)
        inside = fmt::format("      <{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n", element, to_string(record.status),
                             escape_markup(record.reason), escape_markup(detail(record)));
    std::string notes;
    if (!element && record.status != Status::pass && inside.empty())
        notes = fmt::format("{}: {}\n", to_string(record.status), record.reason);
    for (const std::string &note : record.notes) notes += note + "\n";
    notes += record.log;
    if (!notes.empty()) inside += fmt::format("      <system-out>{}</system-out>\n", escape_markup(notes));
    return inside.empty() ? fmt::format("    <testcase {}/>\n", attributes)
                          : fmt::format("    <testcase {}>\n{}    </testcase>\n", attributes, inside);
}

struct Suite {
    size_t tests = 0, failures = 0, errors = 0, skipped = 0;
    double seconds = 0;
    std::string body;
};

} // namespace

std::string report_junit(const RunRecord &run) {
    std::map<std::string, Suite> suites;
    Suite all;
    for (const CaseRecord &record : run.cases) {
        const std::string group = record.name.substr(0, record.name.find('.'));
        const Kind kind = kind_of(record.status);
        for (Suite *suite : {&suites[group], &all}) {
            ++suite->tests;
            suite->failures += kind == Kind::failure;
            suite->errors += kind == Kind::error;
            suite->skipped += kind == Kind::skipped;
            suite->seconds += record.duration_s + record.overhead_s;
        }
        suites[group].body += case_xml(record, group);
    }
    std::string properties;
    const auto property = [&](const std::string &name, const std::string &value) {
        properties += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", escape_markup(name), escape_markup(value));
    };
    for (const std::string &banner : banners(run)) property("note", banner);
    property("verdict", headline(run));
    property("seed", fmt::format("{:#x}", run.seed));
    property("profile", run.profile);
    property("self_test", run.self_test);
    property("corruption_bound", run.bound);
    property("preflight", run.preflight.summary);
    for (const PreflightFinding &finding : run.preflight.findings)
        if (finding.verdict == "fail" || finding.verdict == "warn")
            property("preflight." + finding.id, fmt::format("{}: {}", finding.verdict, finding.found));
    for (const auto &[key, value] : run.plugin) property("plugin." + key, value);
    for (const auto &[key, value] : run.device) property("device." + key, value);

    std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    out += fmt::format(
        "<testsuites name=\"hbf conformance\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\">\n",
        all.tests, all.failures, all.errors, all.skipped, all.seconds);
    for (const auto &[name, suite] : suites) {
        out +=
            fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\" "
                        "timestamp=\"{}\">\n    <properties>\n{}    </properties>\n{}  </testsuite>\n",
                        escape_markup(name), suite.tests, suite.failures, suite.errors, suite.skipped, suite.seconds,
                        escape_markup(run.started), properties, suite.body);
    }
    return out + "</testsuites>\n";
}

} // namespace hbf::conformance
