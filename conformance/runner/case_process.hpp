// SPDX-License-Identifier: Apache-2.0
// Runs hbf-case once: a case, or the description of a plugin, in a process of its own, to its end.
#pragma once

#include <filesystem>
#include <functional>

#include <tl/expected.hpp>

#include "conformance/runner/case_arguments.hpp"
#include "conformance/runner/case_end.hpp"

namespace hbf::conformance {

double sanitizer_slows(); // 1, or more in a program with a sanitizer

struct CaseProcess {
    std::filesystem::path program;
    std::function<int()> interrupted;          // asked often: a signal number stops the process; may be empty
    std::vector<std::string> environment = {}; // "NAME=value", instead of or beside this process's own
    size_t output_limit = 4u << 20, output_kept = 64u << 10;
    double slower = sanitizer_slows(); // the watchdog's time, this many times
};

// Adopts orphans meanwhile, so the caller has no other children. The error is that the process could not be started.
tl::expected<CaseEnd, std::string> run_to_end(const CaseProcess &how, const CaseArguments &arguments, double limit_s);

// The watchdog's time, before it is made longer: of the case, its budget and the profile.
double limit_of(const CaseEntry &entry, Profile profile);

// A record in every event but that no process could be started.
tl::expected<CaseRecord, std::string> run_case_process(const CaseProcess &how, const CaseEntry &entry,
                                                       const CaseArguments &arguments, const std::string &replay);

// Text on stdout of `hbf-case --list`.
tl::expected<std::vector<CaseEntry>, std::string> list_cases(const CaseProcess &how);

} // namespace hbf::conformance
