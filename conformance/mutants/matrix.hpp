// SPDX-License-Identifier: Apache-2.0
// The kill matrix: which cases find which mutants.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "conformance/mutants/mutant.hpp"
#include "conformance/runner/case_list.hpp"
#include "conformance/suite/verdict.hpp"

namespace hbf::conformance {

struct MatrixOptions {
    std::vector<std::string> filter = {}; // patterns of mutants' names ('*', '?'); empty: all
    std::vector<std::string> cases = {};  // the same of cases: only mutants that one of these must find, and only by these
    std::vector<std::string> bases = {};  // the same of what mutants are made of: "sim", "emulated nvidia"
    bool full = false;                    // every case on every mutant, not only those that must find it
    uint64_t seed = 1;
    unsigned jobs = 0; // processes at once; 0: one for each CPU
    std::function<int()> interrupted = {};
    std::function<void(const std::string &)> progress = {};
};

// One case on one mutant, or on the same without its fault.
struct Attempt {
    std::string case_name;
    Status status = Status::not_run;
    std::string reason;
    unsigned tries = 0; // a killer that finds nothing gets a second seed
    bool kills() const;
};

struct MutantRow {
    const Mutant *mutant = nullptr;
    std::string unavailable;       // why it could not be tried, "" if it was
    std::vector<Attempt> intended; // in the order of killers
    std::vector<Attempt> base;     // the same cases on what the mutant was made of
    std::vector<Attempt> others;   // full: all other cases that found it
    bool killed() const;           // by each that must find it, with the verdict that is due
    bool as_due(const Attempt &attempt) const;
    bool base_clean() const;
};

struct Matrix {
    std::vector<MutantRow> rows;
    std::vector<std::string> disagreements;
    size_t runs = 0;
    double seconds = 0;
    bool full = false, interrupted = false;
    bool good() const;     // every row killed and clean, no disagreement
    bool complete() const; // every mutant was tried
};

// "" or why the wrapper plugin would not take the mutant's faults: a name, parameter or value that there is not.
std::string fault_wrong(const Mutant &mutant);

// Reads the cases from hbf-case and runs. The error: hbf-case, or a worker, could not be run; or a filter names nothing.
tl::expected<Matrix, std::string> run_matrix(const MatrixOptions &options);

} // namespace hbf::conformance
