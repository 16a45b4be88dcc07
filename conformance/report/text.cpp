// SPDX-License-Identifier: Apache-2.0
// For the terminal: what decides first, then a line a group, then the figures.
#include <set>

#include <fmt/format.h>

#include "conformance/report/findings.hpp"
#include "conformance/report/report.hpp"
#include "conformance/report/summary.hpp"
#include "core/common/printable.hpp"
#include "core/output/size.hpp"
#include "core/output/stream.hpp"
#include "core/output/table.hpp"

namespace hbf::conformance {
namespace {

constexpr size_t most_shown = 20; // troubled cases in full; the rest by name

Colour colour_of(Status status) {
    if (failed(status)) return Colour::red;
    if (status == Status::pass) return Colour::green;
    return conformant(status) ? Colour::none : Colour::yellow;
}

std::string line(const std::string &indent, const std::string &text) {
    return text.empty() ? std::string() : indent + printable(text, 2000) + "\n";
}

std::string case_text(const CaseRecord &record) {
    std::string out =
        fmt::format("  {} {}\n", coloured(fmt::format("{:<14}", to_string(record.status)), colour_of(record.status)),
                    printable(title(record)));
    for (const Evidence &evidence : record.evidence) {
        const std::string where = place(evidence);
        out += line("      ", where.empty() ? evidence.fault_class : evidence.fault_class + ": " + where);
        out += line("      ", bytes(evidence));
        if (evidence.detail != record.reason) out += line("      ", evidence.detail);
    }
    out += line("      ", record.reason);
    for (const std::string &note : record.notes) out += line("      note: ", note);
    if (!record.rules.empty())
        out += line("      ", fmt::format("rule {} in docs/plugin-rules.md", fmt::join(record.rules, ", ")));
    return out + line("      again: ", record.replay);
}

// The cases that are told in full: of everything that was found the most telling one, then the first of the run.
std::set<const CaseRecord *> told_in_full(const RunRecord &run, const std::vector<const CaseRecord *> &trouble) {
    std::set<const CaseRecord *> full;
    for (const FindingGroup &finding : findings(run))
        if (full.size() < most_shown) full.insert(finding.telling);
    for (const CaseRecord *record : trouble)
        if (full.size() < most_shown) full.insert(record);
    return full;
}

// Below a long list: what its cases have in common.
std::string finding_table(const RunRecord &run) {
    const auto all = findings(run);
    if (all.empty() || (all.size() == 1 && all.front().cases.size() == 1)) return {};
    std::vector<std::vector<Cell>> rows;
    for (const FindingGroup &finding : all)
        rows.push_back({Cell(printable(finding.what), Colour::red), Cell(std::to_string(finding.cases.size())),
                        Cell(printable(fmt::format("{}", fmt::join(finding.tiers, ", ")))),
                        Cell(printable(title(*finding.telling)))});
    return format_table({"what was found", ">cases", "tiers", "the most telling case"}, rows, "  ") + "\n";
}

std::string group_table(const RunRecord &run) {
    static constexpr std::pair<const char *, Status> columns[] = {
        {">pass", Status::pass}, {">not supported", Status::not_supported}, {">not observable", Status::not_observable}};
    std::vector<std::vector<Cell>> rows;
    for (const auto &[name, group] : count_groups(run)) {
        std::vector<Cell> row = {Cell(printable(name)), Cell(std::to_string(group.total))};
        size_t bad = 0, open = 0, warned = 0;
        for (const auto &[status, count] : group.by_status) {
            if (failed(status))
                bad += count;
            else if (!conformant(status))
                open += count;
            else if (status != Status::pass && status != Status::not_supported && status != Status::not_observable)
                warned += count;
        }
        for (const auto &[heading, status] : columns) {
            const auto found = group.by_status.find(status);
            row.emplace_back(std::to_string(found == group.by_status.end() ? 0 : found->second));
        }
        row.emplace_back(std::to_string(warned), warned ? Colour::yellow : Colour::none);
        row.emplace_back(std::to_string(open), open ? Colour::yellow : Colour::none);
        row.emplace_back(std::to_string(bad), bad ? Colour::red : Colour::none);
        row.emplace_back(fmt::format("{:.1f} s", group.seconds));
        rows.push_back(std::move(row));
    }
    return format_table(
        {"group", ">cases", ">pass", ">not supported", ">not observable", ">warning", ">undecided", ">failed", ">time"},
        rows, "  ");
}

} // namespace

std::string report_text(const RunRecord &run, const TextOptions &options) {
    std::string out;
    for (const std::string &banner : banners(run)) out += coloured(printable(banner), Colour::yellow) + "\n";
    out += printable(subject_line(run)) + "\n";
    out += fmt::format("profile {}, seed {:#x}, {}\n\n", printable(run.profile), run.seed, format_duration(run.duration_s));

    for (const std::string &failure : preflight_failures(run))
        out += coloured("preflight failed", Colour::red) + " " + line("", failure);
    if (!preflight_failures(run).empty()) out += "\n";
    const auto trouble = troubled(run);
    const auto full = told_in_full(run, trouble);
    for (const CaseRecord *record : trouble)
        out += full.contains(record) ? case_text(*record)
                                     : fmt::format("  {:<14} {}\n", to_string(record->status), printable(title(*record)));
    for (const CaseRecord &record : run.cases) {
        if (!conformant(record.status)) continue;
        const bool plain = record.status == Status::pass || record.status == Status::not_supported;
        if (!options.all_cases && plain) continue;
        out +=
            fmt::format("  {} {}{}\n", coloured(fmt::format("{:<14}", to_string(record.status)), colour_of(record.status)),
                        printable(title(record)), record.reason.empty() ? "" : ": " + printable(record.reason));
    }
    if (!trouble.empty() || options.all_cases) out += "\n";
    out += finding_table(run) + group_table(run) + "\n";
    for (const std::string &counter : grown_counters(run)) out += line("counter grew: ", counter);
    out += line("preflight: ", run.preflight.summary);
    out += line("", run.self_test);
    out += line("corruption: ", run.bound);
    const Colour colour = run.verdict == "conformant"       ? Colour::green
                          : run.verdict == "not conformant" ? Colour::red
                                                            : Colour::yellow;
    return out + coloured(printable(headline(run), 2000), colour) + "\n";
}

} // namespace hbf::conformance
