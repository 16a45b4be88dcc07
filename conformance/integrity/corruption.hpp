// SPDX-License-Identifier: Apache-2.0
// hbf corruption without its command line: pairs of tiers, patterns and an end, and what came of it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "conformance/integrity/device_pattern.hpp"
#include "conformance/integrity/pattern.hpp"
#include "conformance/integrity/tally.hpp"
#include "conformance/suite/subject.hpp"

namespace hbf::integrity {

inline constexpr double default_seconds = 30;

struct CorruptionOptions {
    std::vector<std::string> pairs;    // "dram0->hbf0", or "dram0": every pair it is part of; empty: all
    std::vector<std::string> patterns; // ids or names; empty: all but bit_fade
    uint64_t iterations = 0;           // 0: no limit
    double seconds = 0;                // 0: none given
    uint64_t bytes = 0;                // of each region; 0: 256 MiB, less where there is less room
    double confidence = 0, rate = 0;   // 0.999 and 1e-13: go on until this rate is excluded; 0: not asked for
    double idle_s = 300;               // of bit_fade
    uint32_t seed = 1;
    VerifyBy verify = VerifyBy::choice;
};

struct CorruptionHooks {
    std::function<bool()> stop = [] { return false; };
    std::function<void(const std::string &)> progress = [](const auto &) {};
    std::function<void(const std::string &)> say = [](const auto &) {}; // a line before the start: what will be done
};

using Counters = std::vector<std::pair<std::string, uint64_t>>;

// What a report is made of.
struct CorruptionRun {
    std::string plugin, plugin_version, plugin_file, device, device_name;
    bool emulated = false; // the device or a tier of it
    CorruptionOptions options;
    std::vector<Pattern> patterns;
    std::string plan;       // how far it goes, in words
    double bits_wanted = 0; // of --confidence and --rate, 0: none
    Tally tally;
    uint64_t iterations = 0; // whole ones
    double seconds = 0;
    std::vector<std::string> notes;
    bool interrupted = false;
    std::string trouble;  // the plugin or the machine failed: no verdict on the data
    bool nothing = false; // no pair could be tested
    std::string self_test;
    bool self_test_passed = true;
    bool said = false; // self_test and plan were printed before the start
    Counters counters_before, counters_after;
    std::vector<std::string> counter_changes;
    std::string inject; // faults asked for
};

enum class Outcome { pass, fail, undecided, nothing, interrupted };
Outcome outcome_of(const CorruptionRun &run);
std::string outcome_text(const CorruptionRun &run); // "pass", "fail: ...", one sentence

std::string corruption_text(const CorruptionRun &run);
std::string corruption_json(const CorruptionRun &run, const std::vector<std::string> &command_line);

// Which patterns: or the name that is none.
tl::expected<std::vector<Pattern>, std::string> chosen_patterns(const std::vector<std::string> &names);

// Opens the device and tests until the end that the options name. Fills `run` as it goes, so that it holds what there is in
// every event. The error is of the command line: a pair that there is not.
tl::expected<void, std::string> run_corruption(conformance::Subject &subject, CorruptionRun &run,
                                               const CorruptionHooks &hooks);

Counters device_counters(const conformance::Instance &device); // of errors, from hbf.health/1; empty without it

} // namespace hbf::integrity
