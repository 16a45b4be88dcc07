// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/decide.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "conformance/integrity/bound.hpp"

namespace hbf::conformance {
namespace {

size_t count(const RunRecord &run, auto &&is) {
    return static_cast<size_t>(
        std::count_if(run.cases.begin(), run.cases.end(), [&](const CaseRecord &one) { return is(one.status); }));
}

std::string cases(size_t number) {
    return fmt::format("{} case{}", number, number == 1 ? "" : "s");
}

void sum_bits(RunRecord &run) {
    run.bits_compared = 0;
    run.bit_errors = 0;
    for (const CaseRecord &one : run.cases) {
        for (const Metric &metric : one.metrics) {
            if (metric.name == "integrity.bits_compared") run.bits_compared += metric.value;
            if (metric.name == "integrity.bit_errors") run.bit_errors += static_cast<uint64_t>(metric.value);
        }
    }
    run.bound = run.bits_compared > 0 ? integrity::bound_text(run.bit_errors, run.bits_compared, 0.999) : "";
    // The patterns compared some of the bytes, other cases others: where those were wrong, there is no bound to state.
    const auto wrong = std::count_if(run.cases.begin(), run.cases.end(), [](const CaseRecord &one) {
        return failed(one.status) && std::any_of(one.evidence.begin(), one.evidence.end(),
                                                 [](const Evidence &evidence) { return evidence.wrong_bytes > 0; });
    });
    if (!run.bound.empty() && wrong > 0)
        run.bound = fmt::format("{} found wrong bytes: no bound; the patterns alone found {} in {:.2g} bits",
                                cases(static_cast<size_t>(wrong)), run.bit_errors, run.bits_compared);
}

const CaseRecord *first(const RunRecord &run, auto &&is) {
    const auto found =
        std::find_if(run.cases.begin(), run.cases.end(), [&](const CaseRecord &one) { return is(one.status); });
    return found == run.cases.end() ? nullptr : &*found;
}

void set(RunRecord &run, const char *verdict, std::string reason) {
    run.verdict = verdict;
    run.verdict_reason = std::move(reason);
}

} // namespace

bool executed(Status status) {
    return status != Status::not_supported && status != Status::not_observable && status != Status::not_run &&
           status != Status::interrupted;
}

void decide(RunRecord &run, size_t left_out) {
    sum_bits(run);
    const size_t ran = count(run, executed), bad = count(run, failed);
    const size_t open = count(run, [](Status status) { return status == Status::inconclusive; });
    const size_t waived = count(run, [](Status status) { return status == Status::waived || status == Status::xfail; });
    const CaseRecord *failure = first(run, failed);
    std::string part = left_out ? fmt::format("; {} of the profile left out", cases(left_out)) : "";
    const auto is_not_run = [](Status status) { return status == Status::not_run; };
    if (const CaseRecord *skipped = first(run, is_not_run))
        part += fmt::format("; {} not run: {}", cases(count(run, is_not_run)), skipped->reason);
    if (run.interrupted)
        return set(run, "interrupted",
                   fmt::format("{} of {} done{}", ran, cases(run.cases.size()),
                               bad ? fmt::format(", {} failed, first {}", bad, failure->name) : ", none of them failed"));
    if (bad)
        return set(run, "not conformant",
                   fmt::format("{} of {} failed, first {}: {}", bad, cases(ran), failure->name, to_string(failure->status)) +
                       part);
    if (!ran)
        return set(run, "not conformant", "no case was executed: nothing of what the plugin declares was tested" + part);
    if (!run.self_test_passed && run.inject.empty())
        return set(run, "undecided",
                   "the self-test did not find every injected fault, so that no case failed proves nothing");
    if (open)
        return set(run, "undecided",
                   fmt::format("{} could not decide, first {}", cases(open),
                               first(run, [](Status status) { return status == Status::inconclusive; })->name) +
                       part);
    set(run, "conformant",
        fmt::format("{} executed, none failed{}", cases(ran), waived ? fmt::format(", {} waived", waived) : "") + part);
}

} // namespace hbf::conformance
