// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace hbf::bench {

// MiB that the process of this command had in memory at most, and none of its children. Its output goes to /dev/null. Throws
// std::runtime_error where it cannot be run, fails, or may not be traced.
double peak_mib(std::vector<std::string> command);

} // namespace hbf::bench
