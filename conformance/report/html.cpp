// SPDX-License-Identifier: Apache-2.0
// The page: the first screen says what was decided, which case, which fault, in which tier, at which address. Text only,
// so that it stands without scripts; the plots are drawn from data in the page.
#include <algorithm>

#include <fmt/format.h>

#include "conformance/report/assets.hpp"
#include "conformance/report/findings.hpp"
#include "conformance/report/markup.hpp"
#include "conformance/report/plots.hpp"
#include "conformance/report/report.hpp"
#include "conformance/report/summary.hpp"
#include "core/output/size.hpp"

namespace hbf::conformance {
namespace {

constexpr size_t most_evidence = 8; // of one case on the page; the JSON has all

std::string e(std::string_view text) {
    return escape_markup(text);
}

const char *colour_of(Status status) {
    return failed(status) ? "bad" : status == Status::pass ? "pass" : conformant(status) ? "dim" : "open";
}

std::string verdict_colour(const RunRecord &run) {
    return run.verdict == "conformant" ? "good" : run.verdict == "not conformant" ? "bad" : "open";
}

std::string row(const std::string &term, const std::string &text, bool code = false) {
    if (text.empty()) return {};
    return code ? fmt::format("<dt>{}</dt><dd><code>{}</code></dd>\n", term, e(text))
                : fmt::format("<dt>{}</dt><dd>{}</dd>\n", term, e(text));
}

std::string trouble_html(const CaseRecord &record) {
    std::string out = fmt::format(
        "<section class=\"trouble{}\"><strong class=\"{}\">{}</strong> <strong>{}</strong>\n<dl>\n",
        failed(record.status) ? "" : " undecided", colour_of(record.status), to_string(record.status), e(title(record)));
    for (size_t i = 0; i < record.evidence.size() && i < most_evidence; ++i) {
        const Evidence &evidence = record.evidence[i];
        out += row("fault", evidence.fault_class) + row("where", place(evidence)) + row("bytes", bytes(evidence), true);
        if (evidence.detail != record.reason) out += row("seen", evidence.detail);
    }
    if (record.evidence.size() > most_evidence)
        out += row("more", fmt::format("{} more places in the JSON report", record.evidence.size() - most_evidence));
    out += row("reason", record.reason) + row("rule", fmt::format("{}", fmt::join(record.rules, ", ")));
    return out + row("again", record.replay, true) + "</dl></section>\n";
}

std::string facts_html(const std::string &heading, const Facts &facts) {
    if (facts.empty()) return {};
    std::string out = fmt::format("<h3>{}</h3>\n<table>\n", heading);
    for (const auto &[key, value] : facts)
        out += fmt::format("<tr><th>{}</th><td class=\"code\">{}</td></tr>\n", e(key), e(value));
    return out + "</table>\n";
}

std::string groups_html(const RunRecord &run) {
    std::string out =
        "<table>\n<tr><th>group</th><th class=\"number\">cases</th><th>came to</th><th class=\"number\">time</th></tr>\n";
    for (const auto &[name, group] : count_groups(run)) {
        std::string counts;
        for (const auto &[status, count] : group.by_status)
            counts += fmt::format("<span class=\"{}\">{} {}</span> ", colour_of(status), count, to_string(status));
        out += fmt::format("<tr><td>{}</td><td class=\"number\">{}</td><td>{}</td><td class=\"number\">{:.1f} s</td></tr>\n",
                           e(name), group.total, counts, group.seconds);
    }
    return out + "</table>\n";
}

std::string metric_text(const Metric &metric) {
    std::string out = fmt::format("{}: {:.6g} {}", metric.name, metric.value, metric.unit);
    if (metric.low != 0 || metric.high != 0) out += fmt::format(" (95 % CI {:.6g} .. {:.6g})", metric.low, metric.high);
    if (!metric.samples.empty()) out += fmt::format(", {} samples", metric.samples.size());
    return out;
}

std::string cases_html(const RunRecord &run) {
    std::string out =
        "<table>\n<tr><th>case</th><th>status</th><th class=\"number\">checks</th><th class=\"number\">time</th>"
        "<th>what was found</th></tr>\n";
    for (const CaseRecord &record : run.cases) {
        std::string found = e(record.reason);
        for (const Metric &metric : record.metrics) found += fmt::format("<br>{}", e(metric_text(metric)));
        for (const std::string &note : record.notes) found += fmt::format("<br><span class=\"dim\">{}</span>", e(note));
        if (!record.log.empty())
            found += fmt::format("<details><summary>log</summary><pre>{}</pre></details>", e(record.log));
        out += fmt::format(
            "<tr><td class=\"code\">{}</td><td class=\"{}\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>"
            "<td>{}</td></tr>\n",
            e(title(record)), colour_of(record.status), to_string(record.status), record.checks,
            e(format_duration(record.duration_s)), found);
    }
    return out + "</table>\n";
}

std::string preflight_html(const RunRecord &run) {
    if (run.preflight.findings.empty()) return {};
    std::string out =
        "<h2>The machine before the run</h2>\n<table>\n<tr><th>check</th><th>verdict</th><th>what was found</th></tr>\n";
    for (const PreflightFinding &finding : run.preflight.findings) {
        const bool bad = finding.verdict == "fail", open = finding.verdict == "warn" || finding.verdict == "cannot_tell";
        std::string found = e(finding.found);
        if (bad || finding.verdict == "warn")
            found += fmt::format("<br><span class=\"dim\">{}; remedy: {}</span>", e(finding.why), e(finding.remedy));
        out += fmt::format("<tr><td class=\"code\">{}</td><td class=\"{}\">{}</td><td>{}</td></tr>\n", e(finding.id),
                           bad                         ? "bad"
                           : open                      ? "open"
                           : finding.verdict == "pass" ? "pass"
                                                       : "dim",
                           e(finding.verdict), found);
    }
    return out + "</table>\n";
}

// "bit flip in 12 cases (vram0): dma.copy.guard_bytes_untouched and 11 more", where the list below is long.
std::string findings_html(const RunRecord &run) {
    const auto all = findings(run);
    if (all.empty() || (all.size() == 1 && all.front().cases.size() == 1)) return {};
    std::string out = "<ul id=\"findings\">\n";
    for (const FindingGroup &finding : all)
        out += fmt::format("<li><b class=\"bad\">{}</b> in {} case{}{}: {}</li>\n", e(finding.what), finding.cases.size(),
                           finding.cases.size() == 1 ? "" : "s",
                           finding.tiers.empty() ? "" : e(fmt::format(" ({})", fmt::join(finding.tiers, ", "))),
                           e(example(finding)));
    return out + "</ul>\n";
}

std::string first_screen(const RunRecord &run) {
    std::string out;
    for (const std::string &banner : banners(run)) out += fmt::format("<p class=\"banner\">{}</p>\n", e(banner));
    out += fmt::format("<h1 id=\"verdict\" class=\"{}\">{}</h1>\n", verdict_colour(run), e(headline(run)));
    for (const std::string &failure : preflight_failures(run))
        out += fmt::format("<p class=\"bad\">preflight failed: {}</p>\n", e(failure));
    out += findings_html(run);
    const auto trouble = troubled(run);
    for (const CaseRecord *record : trouble) out += trouble_html(*record);
    out += fmt::format("<p>{}</p>\n", e(subject_line(run)));
    out += fmt::format("<p class=\"dim\">profile {}, seed {:#x}, {} on {}, suite {}</p>\n", e(run.profile), run.seed,
                       e(format_duration(run.duration_s)), e(run.started), e(run.suite_version));
    if (!run.self_test.empty())
        out += fmt::format("<p class=\"{}\">{}</p>\n", run.self_test_passed ? "good" : "bad", e(run.self_test));
    if (!run.preflight.summary.empty()) out += fmt::format("<p>preflight: {}</p>\n", e(run.preflight.summary));
    if (!run.bound.empty()) out += fmt::format("<p>corruption: {}</p>\n", e(run.bound));
    for (const std::string &counter : grown_counters(run))
        out += fmt::format("<p class=\"open\">counter grew: {}</p>\n", e(counter));
    return out;
}

std::string plots_html(const std::vector<Plot> &plots) {
    if (plots.empty()) return {};
    std::string out = "<h2>Plots</h2>\n";
    if (assets::chart_js().empty())
        out += "<p class=\"open\">This program was built without Chart.js: the figures are in the table below and in the "
               "JSON report.</p>\n";
    out += "<div class=\"plots\">\n";
    for (const Plot &plot : plots)
        out += fmt::format("<div class=\"plot\"><p>{}</p><p class=\"dim\">{}</p><canvas id=\"{}\"></canvas></div>\n",
                           e(plot.series.name), e(plot.of), plot.id);
    return out + "</div>\n";
}

// Inside a script element only its end tag could end it.
std::string script_safe(std::string text) {
    for (size_t at = 0; (at = text.find("</", at)) != std::string::npos; at += 3) text.replace(at, 2, "<\\/");
    return text;
}

} // namespace

std::string report_html(const RunRecord &run) {
    const std::vector<Plot> plots = plots_of(run);
    std::string out =
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "script-src 'unsafe-inline'\">\n";
    out += fmt::format("<title>{} - hbf conformance</title>\n<style>\n{}</style>\n</head>\n<body>\n", e(headline(run)),
                       assets::page_css());
    out += first_screen(run);
    out += "<h2>Groups</h2>\n" + groups_html(run) + plots_html(plots);
    out += "<h2>Cases</h2>\n" + cases_html(run);
    out += preflight_html(run);
    out += "<h2>What was tested</h2>\n" + facts_html("Plugin", run.plugin) + facts_html("Device", run.device) +
           facts_html("Limits and capabilities", run.limits) + facts_html("Host", run.host);
    out += fmt::format("<h3>Command line</h3>\n<pre>{}</pre>\n", e(fmt::format("{}", fmt::join(run.command_line, " "))));
    out += fmt::format("<script type=\"application/json\" id=\"plots\">{}</script>\n", script_safe(plots_json(plots)));
    if (!plots.empty() && !assets::chart_js().empty())
        out += fmt::format("<script>{}</script>\n<script>\n{}</script>\n", script_safe(std::string(assets::chart_js())),
                           assets::page_js());
    return out + "</body>\n</html>\n";
}

} // namespace hbf::conformance
