// SPDX-License-Identifier: Apache-2.0
// Runs probe processes side by side: started, listened to, stopped at their time limit, and never outlived.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/loader/probe_record.hpp"

namespace hbf::loader {

struct ProbeJob {
    ProbeRequest request;
    std::vector<std::string> environment; // "NAME=value"
};

struct ProbeOutcome {
    ProbeRecord record;    // its reason says how it went, also where the process crashed or hung
    bool answered = false; // the record came from the process itself, complete
    double milliseconds = 0;
};

struct ProbeLimits {
    std::chrono::milliseconds time{10'000}; // of one probe
    size_t output = 256 * 1024;             // bytes that one plugin may print before it is stopped
    size_t at_once = 16;
    std::function<bool()> cancelled; // may be empty
};

// Outcomes in the order of the jobs. Code::cancelled once `cancelled` says so; no process is left behind in either case.
// Unsupported if `program` cannot be started at all.
Result<std::vector<ProbeOutcome>> run_probes(const std::filesystem::path &program, const std::vector<ProbeJob> &jobs,
                                             const ProbeLimits &limits);

// How a probe process that ended without an answer is judged. `status` as from waitpid; `output`: what it printed.
Refusal refusal_of_end(int status, ProbeStep step, std::string_view output);

} // namespace hbf::loader
