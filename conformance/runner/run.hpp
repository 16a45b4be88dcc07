// SPDX-License-Identifier: Apache-2.0
// A whole run of the suite on one plugin: every chosen case in a process of its own, one after the other, since they measure
// time and provoke races on the cores there are.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "conformance/runner/filter.hpp"
#include "conformance/runner/record.hpp"
#include "conformance/runner/target.hpp"
#include "conformance/runner/waivers.hpp"

namespace hbf::conformance {

struct RunOptions {
    Target target;
    CaseFilter filter;            // with the profile
    std::optional<uint64_t> seed; // none: a random one
    uint64_t repeat = 1;          // each case so many times, with other seeds
    uint32_t mask = 0;            // need:: bits hidden in every case; 0: masked cases run once more with all hidden
    std::string inject;           // faults for the wrapper plugin, "" in earnest
    std::vector<Waiver> waivers;
    bool self_test = true;
    bool keep_going = false; // also after `most_hung` cases that waited for work which never completed
    std::vector<std::string> command_line;
    Preflight preflight;  // what was found on the machine before, for the record
    std::string revision; // git id of this build, "" unknown
    // From programs.hpp; a test brings its own.
    std::filesystem::path case_program, wrapper;
};

// A device that completes nothing costs each case its whole patience, twice: a run stops after so many.
inline constexpr size_t most_hung = 3;

struct RunHooks {
    std::function<int()> interrupted;                                               // signal number, 0 none
    std::function<void(size_t done, size_t all, const std::string &name)> starting; // of each case
    std::function<void(const CaseRecord &)> finished;                               // of each case
};

struct RunError {
    enum Kind { usage, other } kind = other;
    std::string message;
};

// The record in every event but a wrong filter, mask or waiver, and an installation that is not whole. Afterwards no process
// is left behind.
tl::expected<RunRecord, RunError> run_suite(const RunOptions &options, const RunHooks &hooks = {});

// "hbf conformance --plugin ... --filter NAME --seed 0x...": runs this case as it ran here.
std::string replay_command(const RunOptions &options, const std::string &name, uint64_t base_seed, uint32_t mask);

// Names with commas to need:: bits, or which name is none.
tl::expected<uint32_t, std::string> mask_of(const std::vector<std::string> &names);

} // namespace hbf::conformance
