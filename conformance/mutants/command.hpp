// SPDX-License-Identifier: Apache-2.0
// `hbf conformance mutants`, without its command line.
#pragma once

#include <string>

#include "conformance/mutants/matrix.hpp"

namespace hbf::conformance {

struct MutantsCommand {
    MatrixOptions matrix = {}; // progress and interrupted are set by the command's caller, or empty
    bool list = false;         // only say which mutants there are
    bool json = false;
    std::string golden; // file to compare with, "" none
    std::string write;  // file to write the table to, "" none
};

// Prints to stdout, errors to stderr. 0: each mutant killed by every case that must find it; 1: one is not, or a base fails,
// or catalogue, cases and golden table disagree; 3: could not be decided (interrupted, or a mutant was not tried because it
// is not built); 2: the filter names nothing, or a file cannot be read or written.
int run_mutants_command(const MutantsCommand &command);

} // namespace hbf::conformance
