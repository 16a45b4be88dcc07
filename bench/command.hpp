// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace hbf::bench {

// Runs a program, its output thrown away, and gives the seconds it took. Throws what went wrong, also where it ended with
// another code than 0.
double seconds_of(std::vector<std::string> command);

} // namespace hbf::bench
