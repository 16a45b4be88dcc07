// SPDX-License-Identifier: Apache-2.0
// Plugins are opened in this process before anyone knows whether they crash.
#include <dlfcn.h>

#include "conformance/mutants/guards/replaced.hpp"
#include "core/loader/probe_process.hpp"

namespace hbf::loader {

#define RUN_PROBES                                                                                                          \
    "_ZN3hbf6loader10run_probesERKNSt10filesystem7__cxx114pathERKSt6vectorINS0_8ProbeJobESaIS7_EERKNS0_11ProbeLimitsE"

Result<std::vector<ProbeOutcome>> run_as_it_was(const std::filesystem::path &program, const std::vector<ProbeJob> &jobs,
                                                const ProbeLimits &limits) HBF_AS_IT_WAS(RUN_PROBES);
Result<std::vector<ProbeOutcome>> run_here(const std::filesystem::path &program, const std::vector<ProbeJob> &jobs,
                                           const ProbeLimits &limits) HBF_IN_PLACE_OF(RUN_PROBES);
Result<std::vector<ProbeOutcome>> run_here(const std::filesystem::path &program, const std::vector<ProbeJob> &jobs,
                                           const ProbeLimits &limits) {
    for (const ProbeJob &job : jobs) dlopen(job.request.plugin_file.c_str(), RTLD_NOW | RTLD_LOCAL);
    return run_as_it_was(program, jobs, limits);
}

} // namespace hbf::loader
