// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/case_run.hpp"

#include <chrono>
#include <exception>
#include <optional>

#include <fmt/format.h>

#include "conformance/suite/context.hpp"

namespace hbf::conformance {
namespace {

constexpr size_t most_log = 64 * 1024;

std::string_view level_name(hbf_log_level level) {
    switch (level) {
    case HBF_LOG_ERROR:
        return "error";
    case HBF_LOG_WARNING:
        return "warning";
    case HBF_LOG_INFO:
        return "info";
    default:
        return "debug";
    }
}

std::string text_of(const PluginLog &log) {
    std::string out;
    uint64_t dropped = log.dropped;
    for (const auto &[level, line] : log.lines) {
        if (out.size() + line.size() > most_log)
            ++dropped;
        else
            out += fmt::format("plugin {}: {}\n", level_name(level), line);
    }
    if (dropped) out += fmt::format("({} more lines of the plugin's log are left out)\n", dropped);
    return out;
}

// What the case came to, leaving aside what it found on the way.
Verdict judge(const Case &entry, Subject &subject, Context &context) {
    try {
        if (entry.info.needs) {
            const uint32_t missing = entry.info.needs & ~subject.instance().capabilities();
            if (missing) return {Status::not_supported, fmt::format("the plugin does not declare {}", need_names(missing))};
        }
        entry.run(context);
    } catch (Verdict &verdict) {
        if (verdict.status == Status::not_supported && entry.info.needs == 0)
            return {Status::internal_error,
                    "the case says not supported, but names no capability that it needs: " + verdict.reason};
        return std::move(verdict);
    }
    const auto found = context.findings();
    if (found.checks == 0) return {Status::internal_error, "the case made no check"};
    if (!found.warnings_capability.empty()) return {Status::warn_capability, found.warnings_capability.front()};
    if (!found.warnings_quality.empty()) return {Status::warn_quality, found.warnings_quality.front()};
    return {Status::pass, ""};
}

void take(CaseRecord &record, Context::Findings found) {
    record.checks = found.checks;
    record.metrics = std::move(found.metrics);
    record.series = std::move(found.series);
    record.notes = std::move(found.notes);
    for (auto *warnings : {&found.warnings_capability, &found.warnings_quality}) {
        for (auto &warning : *warnings)
            if (warning != record.reason) record.notes.push_back("warning: " + warning);
    }
    for (auto &evidence : found.evidence) record.evidence.push_back(std::move(evidence));
}

Verdict run_guarded(const Case &entry, const SubjectOptions &options, uint64_t seed, Profile profile, CaseRecord &record) {
    // The subject ends before the verdict counts: a plugin that crashes in destroy has not passed.
    Subject subject(options);
    Context context(entry, subject, seed, profile);
    Verdict verdict;
    std::exception_ptr error;
    try {
        verdict = judge(entry, subject, context);
    } catch (...) {
        error = std::current_exception();
    }
    record.reason = verdict.reason;
    record.evidence = std::move(verdict.evidence);
    take(record, context.findings());
    subject.destroy_instance();
    record.log = text_of(subject.log());
    if (error) std::rethrow_exception(error);
    return verdict;
}

} // namespace

CaseRecord run_case(const Case &entry, const SubjectOptions &options, uint64_t seed, Profile profile) {
    CaseRecord record;
    record.name = entry.name;
    for (const auto rule : entry.info.rules) record.rules.emplace_back(rule);
    record.seed = seed;
    record.mask = need_names(options.mask);
    const auto began = std::chrono::steady_clock::now();
    try {
        const Verdict verdict = run_guarded(entry, options, seed, profile, record);
        record.status = verdict.status;
        record.reason = verdict.reason;
    } catch (const Verdict &verdict) { // the plugin could not even be opened
        record.status = verdict.status;
        record.reason = verdict.reason;
        record.evidence = verdict.evidence;
    } catch (const std::exception &error) {
        record.status = Status::internal_error;
        record.reason = fmt::format("the case ended by an exception of its own: {}", error.what());
    } catch (...) {
        record.status = Status::internal_error;
        record.reason = "the case ended by something thrown that is no exception";
    }
    record.duration_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return record;
}

} // namespace hbf::conformance
