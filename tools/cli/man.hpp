// SPDX-License-Identifier: Apache-2.0
// Man pages, made from the same descriptions as the help: hbf(1), and hbf-COMMAND(1) for each command.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/command.hpp"

namespace hbf::tools {

std::string program_man_page(const std::vector<Command> &commands);
// `commands`: all of them, for SEE ALSO.
std::string command_man_page(const Command &command, const std::vector<Command> &commands);

// Text as roff prints it as it is: backslashes, dashes, quotes, and dots at the start of a line. Line ends stay.
std::string roff_text(std::string_view text);

} // namespace hbf::tools
