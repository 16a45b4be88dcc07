// SPDX-License-Identifier: Apache-2.0
// What comes after a plugin that crashed in its probe is not looked at.
#include "conformance/mutants/guards/replaced.hpp"
#include "core/loader/probe_process.hpp"

namespace hbf::loader {

#define RUN_PROBES                                                                                                          \
    "_ZN3hbf6loader10run_probesERKNSt10filesystem7__cxx114pathERKSt6vectorINS0_8ProbeJobESaIS7_EERKNS0_11ProbeLimitsE"

Result<std::vector<ProbeOutcome>> run_as_it_was(const std::filesystem::path &program, const std::vector<ProbeJob> &jobs,
                                                const ProbeLimits &limits) HBF_AS_IT_WAS(RUN_PROBES);
Result<std::vector<ProbeOutcome>> run_to_crash(const std::filesystem::path &program, const std::vector<ProbeJob> &jobs,
                                               const ProbeLimits &limits) HBF_IN_PLACE_OF(RUN_PROBES);
Result<std::vector<ProbeOutcome>> run_to_crash(const std::filesystem::path &program, const std::vector<ProbeJob> &jobs,
                                               const ProbeLimits &limits) {
    auto outcomes = run_as_it_was(program, jobs, limits);
    if (!outcomes) return outcomes;
    bool crashed = false;
    for (ProbeOutcome &outcome : *outcomes) {
        if (crashed) {
            outcome.record = {};
            outcome.record.detail = "not looked at";
        }
        crashed = crashed || outcome.record.reason == Reason::probe_crashed;
    }
    return outcomes;
}

} // namespace hbf::loader
