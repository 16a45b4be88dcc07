// SPDX-License-Identifier: Apache-2.0
// One running probe process, seen from the loader.
#pragma once

#include <optional>
#include <string>

#include "core/common/child_process.hpp"
#include "core/loader/probe_process.hpp"

namespace hbf::loader {

class ProbeChild {
public:
    ProbeChild(size_t job, const ProbeLimits &limits) : job_(job), output_limit_(limits.output), time_(limits.time) {}

    Result<> start(const std::filesystem::path &program, const ProbeJob &job);
    ProbeOutcome outcome() const; // once it ended

    size_t job() const { return job_; }
    ChildProcess &process() { return process_; }
    const ChildProcess &process() const { return process_; }

private:
    std::optional<ProbeRecord> answer() const;

    size_t job_, output_limit_;
    std::chrono::milliseconds time_;
    ChildProcess process_;
};

} // namespace hbf::loader
