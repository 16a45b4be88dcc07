// SPDX-License-Identifier: Apache-2.0
// A command line against the commands: what is to be run, or what is wrong. CLI11 stays behind this header (parser.cpp).
#pragma once

#include <string>
#include <vector>

#include "tools/cli/parts.hpp"

namespace hbf::tools {

struct Parsed {
    const Command *command = nullptr; // the deepest that was named
    CommandPath path;                 // to it: {hbf, config, show}
    bool help = false, version = false;
    std::string colour;  // of --color, "" if it was not given
    std::string mistake; // "" if the line is right: else a line for people
};

// Sets the targets of the options on the way. `words` begins with the program's own name.
Parsed parse(const std::vector<Command> &commands, const std::vector<std::string> &words);

} // namespace hbf::tools
