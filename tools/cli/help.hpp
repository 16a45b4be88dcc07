// SPDX-License-Identifier: Apache-2.0
// What --help prints.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/parts.hpp"

namespace hbf::tools {

// Filled to output_width() (core/output/terminal.hpp), at most 100 columns; headings stand out where colour is wanted.
std::string command_help(const CommandPath &path, const Command &command);
std::string program_help(const std::vector<Command> &commands); // commands under the headings of their groups

} // namespace hbf::tools
