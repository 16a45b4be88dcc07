// SPDX-License-Identifier: Apache-2.0
// What one case run leaves behind, and what a whole run is: the data that every report is made of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/suite/verdict.hpp"

namespace hbf::conformance {

struct CaseRecord {
    std::string name;
    std::vector<std::string> rules;
    Status status = Status::not_run;
    std::string reason; // one sentence; "" for a plain pass
    std::vector<Evidence> evidence;
    std::vector<Metric> metrics;
    std::vector<Series> series;
    std::vector<std::string> notes; // warnings that did not decide the status, what was left out, ...
    uint64_t seed = 0;              // the case's own
    uint64_t checks = 0;
    double duration_s = 0; // inside the case
    double overhead_s = 0; // process start to end, less duration_s
    std::string mask;      // capabilities hidden in this run, "cancel, crc"; "" none
    std::string log;       // what the case's process printed and the plugin logged, bounded
    std::string waiver;    // id of the waiver that applied, "" none
    std::string replay;    // the one command that runs just this again
};

// What hbf doctor found on the machine before the run: it stands beside the verdict and does not change it.
struct PreflightFinding {
    std::string id, title; // "iommu.translation"
    std::string verdict;   // "pass", "warn", "fail", "not_applicable", "cannot_tell"
    std::string found, why, remedy;
    std::vector<std::string> evidence; // "PATH: VALUE"
};
struct Preflight {
    std::string summary; // "doctor: 40 pass, 1 warn, ..."; "" if it was left out
    std::vector<PreflightFinding> findings;
};

using Facts = std::vector<std::pair<std::string, std::string>>; // in the order they are shown

struct RunRecord {
    static constexpr int schema_version = 1;
    std::string suite_version, suite_revision; // revision: git id, "" if unknown
    std::vector<std::string> command_line;
    std::string started; // RFC 3339, UTC
    std::string profile; // "quick"
    uint64_t seed = 0;
    double duration_s = 0;
    bool interrupted = false;
    bool emulated = false; // device or a tier of it: every report says so on its first line
    Facts host;            // cpu, cpus, kernel, memory, numa, hypervisor, ...
    Facts plugin;          // path, sha256, name, vendor, version, build_id, compiler, abi, sanitizer
    Facts device;          // id, name, driver, pci_address, reality
    Facts limits;          // tiers with capacity, granule, alignment, ...; queue limits; domains; capabilities
    Facts inject;          // what faults were asked for; empty in earnest
    Preflight preflight;
    std::vector<std::pair<std::string, uint64_t>> health_before, health_after; // counters of device and host (EDAC, AER)
    std::string self_test;                                                     // "self-test: 12/12 injected faults found"
    bool self_test_passed = false;
    double bits_compared = 0; // by the integrity cases
    uint64_t bit_errors = 0;
    std::string bound;             // "0 errors in 1.2e13 bits: rate < 5.8e-13 at 99.9 %", "" if nothing was compared
    std::vector<CaseRecord> cases; // as run; a masked rerun is a record of its own
    std::string verdict;           // "conformant", "not conformant", "undecided", "untested", "interrupted"
    std::string verdict_reason;    // one sentence
};

// 0 conformant, 1 not conformant, 3 undecided, 77 nothing could be tested. (An interrupted run exits with 128 + signal.)
int exit_code(const RunRecord &run);

// Exit status of the case's process; a record and a status that do not belong together are an internal error.
int case_exit_status(Status status);

} // namespace hbf::conformance
