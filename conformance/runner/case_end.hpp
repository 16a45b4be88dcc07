// SPDX-License-Identifier: Apache-2.0
// From how a case's process ended to its record: believed only if the record is whole, is of this case, agrees with the exit
// status, and nothing was left behind. What the process printed is kept, and never read for a verdict.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conformance/runner/case_list.hpp"
#include "conformance/runner/record.hpp"
#include "core/common/child_process.hpp"

namespace hbf::conformance {

struct CaseEnd {
    std::string received; // on the record's descriptor
    std::string output;   // the last of what it printed
    size_t output_size = 0, output_limit = 0;
    std::optional<int> status; // as from waitpid
    bool timed_out = false, flooded = false;
    int interrupted = 0; // the signal that stopped the run, 0 none
    std::vector<Orphan> orphans;
    double seconds = 0, limit_s = 0;
};
CaseEnd end_of(const ChildProcess &process);

// `expected`: name, rules, seed and mask as the runner gave them.
CaseRecord judge_end(const CaseRecord &expected, const CaseEnd &end);

} // namespace hbf::conformance
