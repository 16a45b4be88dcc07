// SPDX-License-Identifier: Apache-2.0
// A command as if it were typed: in the terminal, with this process's descriptors; its end is ours.
#pragma once

#include <string>
#include <vector>

#include "hbf/status.hpp"

namespace hbf::tools::emulate {

// The exit code as shells give it: 128 + signal for one that a signal ended. Signals that ask this process to end are handed
// on. UNAVAILABLE if it could not be started.
Result<int> run_command(const std::vector<std::string> &words, const std::vector<std::string> &environment);

} // namespace hbf::tools::emulate
