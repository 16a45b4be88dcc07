// SPDX-License-Identifier: Apache-2.0
// Every subcommand of hbf, each in its own file.
#pragma once

#include <vector>

#include "tools/cli/command.hpp"

namespace hbf::tools {

Command bandwidth_command();
Command bench_command();
Command completion_command();
Command config_command();
Command conformance_command();
Command corruption_command();
Command doctor_command();
Command emulate_command();
Command monitor_command();
Command plugin_command();
Command probe_command();
Command profile_command();
Command replay_command();
Command version_command();

std::vector<Command> all_commands(); // in the order of `hbf --help`

} // namespace hbf::tools
