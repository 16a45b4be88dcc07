// SPDX-License-Identifier: Apache-2.0
// A package is judged by what is in it: sums, signature, every report made again from the results, every verdict decided
// again from the cases. Nothing in it is believed because it says so.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "conformance/report/package.hpp"
#include "conformance/report/report.hpp"
#include "conformance/report/signature.hpp"
#include "conformance/report/statement.hpp"
#include "conformance/report/summary.hpp"
#include "conformance/runner/decide.hpp"
#include "conformance/runner/record_json.hpp"
#include "core/common/printable.hpp"
#include "core/output/stream.hpp"

namespace hbf::conformance {
namespace {

class Judge {
public:
    explicit Judge(Verification &out) : out_(out) {}
    void good(std::string text) { out_.findings.push_back({Finding::good, std::move(text)}); }
    void note(std::string text) { out_.findings.push_back({Finding::note, std::move(text)}); }
    void bad(std::string text) { out_.findings.push_back({Finding::bad, std::move(text)}); }
    void expect(bool holds, std::string yes, std::string no) { holds ? good(std::move(yes)) : bad(std::move(no)); }

private:
    Verification &out_;
};

std::string at(const Files &files, const char *name) {
    const auto found = files.find(name);
    return found == files.end() ? std::string() : found->second;
}

void check_sums(Judge &judge, const Files &files) {
    const std::string said = at(files, sums_file), are = sums_of(files);
    if (said == are)
        return judge.good(fmt::format("{} files are as they were summed", std::count(are.begin(), are.end(), '\n')));
    if (said.empty()) return judge.bad(fmt::format("{} is missing: nothing shows whether files were changed", sums_file));
    // Name each file that is not as its line says.
    const auto lines = [](const std::string &text) {
        std::map<std::string, std::string> out;
        for (size_t from = 0; from < text.size();) {
            const size_t end = std::min(text.find('\n', from), text.size());
            const std::string line = text.substr(from, end - from);
            if (line.size() > 66) out[line.substr(66)] = line.substr(0, 64);
            from = end + 1;
        }
        return out;
    };
    const auto before = lines(said), now = lines(are);
    bool named = false;
    for (const auto &[name, sum] : now) {
        const auto line = before.find(name);
        if (line != before.end() && line->second == sum) continue;
        judge.bad(fmt::format("{} was {}", printable(name), line == before.end() ? "added" : "changed"));
        named = true;
    }
    for (const auto &[name, sum] : before)
        if (!now.contains(name)) judge.bad(fmt::format("{} was taken out", printable(name))), named = true;
    if (!named) judge.bad(fmt::format("{} is not as it was written", sums_file));
}

void check_who(Judge &judge, const Files &files, const std::filesystem::path &signers) {
    const std::string signature = at(files, signature_file);
    if (signature.empty()) {
        const std::string text = "not signed: whoever made the sums anew could have changed anything";
        return signers.empty() ? judge.note(text) : judge.bad(text);
    }
    const auto who = check_signature(at(files, sums_file), signature, signers);
    if (!who) return judge.bad("the signature does not hold: " + printable(who.error()));
    if (signers.empty()) return judge.note("signed, by whom was not judged (no list of signers given): " + printable(*who));
    judge.good("signed by " + printable(*who));
}

// Reports of the same suite come out the same from the same results.
void check_reports(Judge &judge, const Files &files, const RunRecord &run) {
    const std::pair<const char *, std::string> reports[] = {
        {"results.json", report_json(run)}, {"junit.xml", report_junit(run)}, {"ocp.jsonl", report_ocp(run)}};
    for (const auto &[name, text] : reports)
        judge.expect(at(files, name) == text, fmt::format("{} agrees with the results", name),
                     fmt::format("{} does not say what the results say", name));
    // The page holds styles and scripts of the program that made it: its first screen is what counts.
    const auto body = [](const std::string &html) {
        const size_t from = html.find("<body>"), to = html.find("<script");
        return from == std::string::npos || to == std::string::npos ? std::string() : html.substr(from, to - from);
    };
    const auto without_plots = [](std::string html) {
        const size_t from = html.find("<h2>Plots</h2>"), to = html.find("<h2>Cases</h2>");
        if (from != std::string::npos && to != std::string::npos && from < to) html.erase(from, to - from);
        return html;
    };
    const std::string page = without_plots(body(at(files, "report.html")));
    judge.expect(!page.empty() && page == without_plots(body(report_html(run))), "report.html agrees with the results",
                 "report.html does not say what the results say");
}

void check_cases(Judge &judge, const RunRecord &run, const std::vector<std::string> &must_run) {
    std::set<std::pair<std::string, std::string>> seen;
    std::set<std::string> ran;
    for (const CaseRecord &record : run.cases) {
        if (!seen.emplace(record.name, record.mask).second)
            judge.bad(fmt::format("{} is there twice", printable(title(record))));
        if (record.mask.empty()) ran.insert(record.name);
        if (record.status == Status::pass && record.checks == 0)
            judge.bad(fmt::format("{} passed without a check", printable(title(record))));
        if (record.status == Status::fail && record.reason.empty())
            judge.bad(fmt::format("{} failed without a reason", printable(title(record))));
        if (record.seed == 0 && run.seed == 0) judge.bad(fmt::format("{} has no seed", printable(title(record))));
    }
    size_t missing = 0;
    for (const std::string &name : must_run)
        if (!ran.contains(name) && ++missing <= 5) judge.bad(fmt::format("{} of profile {} was not run", name, run.profile));
    if (missing > 5) judge.bad(fmt::format("{} more cases of the profile were not run", missing - 5));
    if (!must_run.empty() && missing == 0)
        judge.good(fmt::format("all {} cases of profile {} are there", must_run.size(), run.profile));
    if (must_run.empty())
        judge.note("which cases belong to the profile is not known here: that all are there was not checked");
}

void check_verdict(Judge &judge, const RunRecord &run) {
    RunRecord again = run;
    decide(again, 0);
    judge.expect(again.verdict == run.verdict, fmt::format("the cases add up to '{}'", run.verdict),
                 fmt::format("it says '{}', but its cases add up to '{}'", printable(run.verdict), again.verdict));
    judge.expect(again.bound == run.bound, "the bound on corruption follows from the bits compared",
                 "the bound on corruption does not follow from the bits compared");
    judge.expect(run.verdict == "conformant", "conformant: " + printable(run.verdict_reason),
                 fmt::format("the run itself is {}: {}", printable(run.verdict), printable(run.verdict_reason)));
    if (!run.inject.empty()) judge.bad("faults were injected in this run");
    if (run.interrupted) judge.bad("the run was interrupted");
    if (!run.self_test_passed) judge.bad("the self-test of the suite did not pass: " + printable(run.self_test));
    if (fact(run.plugin, "sha256").size() != 64) judge.bad("the hash of the plugin is not recorded");
    if (run.emulated) judge.note("the device is EMULATED: this is no statement about hardware");
}

void check_statement(Judge &judge, const Files &files) {
    const auto gaps = statement_gaps(at(files, statement_file));
    if (!gaps) return judge.bad(printable(gaps.error()));
    judge.expect(gaps->empty(), "the statement is complete",
                 fmt::format("{} does not say: {}", statement_file, fmt::join(*gaps, ", ")));
}

} // namespace

bool Verification::accepted() const {
    return readable &&
           std::none_of(findings.begin(), findings.end(), [](const Finding &one) { return one.kind == Finding::bad; });
}

Verification verify_package(const std::filesystem::path &file, const VerifyOptions &options) {
    Verification out;
    Judge judge(out);
    const auto package = unpack(file);
    if (!package) {
        judge.bad(package.error());
        out.readable = false;
        return out;
    }
    check_sums(judge, package->files);
    check_who(judge, package->files, options.signers);
    const auto json = Json::parse(at(package->files, "results.json"));
    const auto run = json ? run_record_from(*json) : tl::unexpected(json.error());
    if (!run) {
        judge.bad("results.json: " + printable(run.error()));
        return out;
    }
    check_reports(judge, package->files, *run);
    check_cases(judge, *run, options.must_run_of ? options.must_run_of(run->profile) : std::vector<std::string>{});
    check_verdict(judge, *run);
    check_statement(judge, package->files);
    return out;
}

std::string verification_text(const Verification &verification) {
    std::string out;
    for (const Finding &finding : verification.findings) {
        const bool bad = finding.kind == Finding::bad;
        const std::string word = bad ? "bad" : finding.kind == Finding::good ? "ok" : "note";
        out +=
            fmt::format("  {} {}\n", coloured(fmt::format("{:<4}", word), bad ? Colour::red : Colour::none), finding.text);
    }
    const char *verdict = !verification.readable ? "NOT READABLE" : verification.accepted() ? "ACCEPTED" : "REFUSED";
    return out + coloured(verdict, verification.accepted() ? Colour::green : Colour::red) + "\n";
}

} // namespace hbf::conformance
