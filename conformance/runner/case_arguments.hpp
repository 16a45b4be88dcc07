// SPDX-License-Identifier: Apache-2.0
// The command line of hbf-case: written by the runner, and by people who develop a case.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "conformance/suite/case.hpp"
#include "conformance/suite/subject.hpp"

namespace hbf::conformance {

struct CaseArguments {
    enum Mode { run, list, names, describe, help } mode = run;
    SubjectOptions subject;
    std::string name;
    uint64_t seed = 1; // the case's own
    Profile profile = Profile::quick;
    int record_fd = -1; // -1: to people, on stdout
    int64_t parent = 0; // process id: when it is gone, the case ends
};

// The error is one sentence for people.
tl::expected<CaseArguments, std::string> parse_case_arguments(const std::vector<std::string> &words);
std::vector<std::string> words_of(const CaseArguments &arguments); // the same line again, without the program's name

extern const char case_usage[];

} // namespace hbf::conformance
