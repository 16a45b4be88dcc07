// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor/report.hpp"

#include <fmt/format.h>

#include "core/common/printable.hpp"
#include "core/host/root.hpp"
#include "core/output/json.hpp"
#include "core/output/stream.hpp"
#include "core/output/table.hpp"

namespace hbf::tools::doctor {
namespace {

constexpr int schema_version = 1;
constexpr size_t shown_evidence = 6; // of one finding on a terminal; the JSON has all that was kept

Colour colour_of(Verdict verdict) {
    switch (verdict) {
    case Verdict::pass:
        return Colour::green;
    case Verdict::warn:
        return Colour::yellow;
    case Verdict::fail:
        return Colour::red;
    case Verdict::not_applicable:
        return Colour::dim;
    case Verdict::cannot_tell:
        break;
    }
    return Colour::bold;
}

std::string shortened(const std::string &text, size_t most) {
    return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

std::string trouble(const Finding &finding) {
    std::string out = fmt::format("{} {}: {}\n", coloured(to_string(finding.verdict), colour_of(finding.verdict)),
                                  coloured(finding.id, Colour::bold), printable(finding.found, 2000));
    for (size_t i = 0; i < finding.evidence.size() && i < shown_evidence; ++i)
        out += fmt::format("    seen: {}: {}\n", printable(finding.evidence[i].path), printable(finding.evidence[i].value));
    if (finding.evidence.size() > shown_evidence)
        out += fmt::format("    seen: {} more with --json\n", finding.evidence.size() - shown_evidence);
    out += fmt::format("    why: {}\n    remedy: {}\n", finding.why, finding.remedy);
    for (const Fix &fix : finding.fixes) out += fmt::format("    $ {}\n", printable(fix.command, 2000));
    return out;
}

Json check_json(const Check &check) {
    return Json::object(
        {{"id", check.id}, {"title", check.title}, {"reads", check.reads}, {"why", check.why}, {"remedy", check.remedy}});
}

} // namespace

std::string report_text(const Examination &examination) {
    std::vector<std::vector<Cell>> rows;
    std::string troubles, hidden;
    for (const Finding &finding : examination.findings) {
        rows.push_back({finding.id,
                        {std::string(to_string(finding.verdict)), colour_of(finding.verdict)},
                        printable(shortened(finding.found, 110))});
        if (finding.verdict >= Verdict::warn) troubles += trouble(finding) + "\n";
        if (finding.needs_root) hidden += (hidden.empty() ? "" : ", ") + finding.id;
    }
    std::string out = format_table({"CHECK", "VERDICT", "FOUND"}, rows) + "\n" + troubles;
    if (!hidden.empty()) out += fmt::format("left out without root: {}\n", hidden);
    const Verdict worst = examination.count(Verdict::fail)   ? Verdict::fail
                          : examination.count(Verdict::warn) ? Verdict::warn
                                                             : Verdict::pass;
    return out + coloured(examination.summary(), colour_of(worst)) + "\n";
}

std::string report_fixes(const Examination &examination) {
    std::string out;
    for (const Finding &finding : examination.findings) {
        if (finding.verdict < Verdict::warn) continue;
        out += fmt::format("# {} ({}): {}\n", finding.id, to_string(finding.verdict), printable(finding.found, 2000));
        if (finding.fixes.empty()) out += fmt::format("#   no command: {}\n", finding.remedy);
        for (const Fix &fix : finding.fixes)
            out += fmt::format("#   changes: {}; {}\n{}\n", printable(fix.changes, 500),
                               fix.lasts ? "survives a reboot" : "does not survive a reboot", printable(fix.command, 2000));
        out += "\n";
    }
    if (out.empty()) return "# nothing to change\n";
    return "# Printed, not run. Most need root; read what each changes first.\n\n" + out;
}

std::string report_json(const Examination &examination) {
    Json findings = Json::array();
    for (const Finding &finding : examination.findings) {
        Json evidence = Json::array(), commands = Json::array();
        for (const Seen &seen : finding.evidence) evidence.push(Json::object({{"path", seen.path}, {"value", seen.value}}));
        for (const Fix &fix : finding.fixes)
            commands.push(
                Json::object({{"command", fix.command}, {"changes", fix.changes}, {"survives_reboot", fix.lasts}}));
        findings.push(Json::object({{"id", finding.id},
                                    {"title", finding.title},
                                    {"verdict", id_of(finding.verdict)},
                                    {"found", finding.found},
                                    {"evidence", evidence},
                                    {"why", finding.why},
                                    {"remedy", finding.remedy},
                                    {"commands", commands},
                                    {"needs_root", finding.needs_root}}));
    }
    Json counts = Json::object();
    for (const Verdict verdict : all_verdicts) counts.set(id_of(verdict), examination.count(verdict));
    const std::string emulated = host::emulated_machine(examination.root);
    return Json::object({{"schema_version", schema_version},
                         {"root", examination.root},
                         {"emulated_machine", emulated.empty() ? Json() : Json(emulated)},
                         {"summary", examination.summary()},
                         {"counts", counts},
                         {"findings", findings}})
        .dump();
}

std::string list_text(const std::vector<Check> &checks) {
    std::vector<std::vector<Cell>> rows;
    for (const Check &check : checks)
        rows.push_back({std::string(check.id), std::string(check.title), std::string(check.reads)});
    return format_table({"CHECK", "WHAT HAS TO HOLD", "READS"}, rows);
}

std::string list_json(const std::vector<Check> &checks) {
    Json list = Json::array();
    for (const Check &check : checks) list.push(check_json(check));
    return Json::object({{"schema_version", schema_version}, {"checks", list}}).dump();
}

} // namespace hbf::tools::doctor
