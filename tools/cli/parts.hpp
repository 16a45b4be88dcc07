// SPDX-License-Identifier: Apache-2.0
// The parts of a command's description that help, man pages and completion share.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/cli/command.hpp"

namespace hbf::tools {

// The way to a command: {hbf config, show}. The first has no parent.
using CommandPath = std::vector<std::string>;
std::string joined(const CommandPath &path);

constexpr const char *program_summary = "this machine's memory tiers, chosen, measured and verified";

struct OptionNames {
    std::vector<std::string> names; // {"-o", "--output"}; a positional has one, without dashes
    bool positional() const { return !names.front().starts_with('-'); }
};
OptionNames names_of(const Option &option);
bool is_flag(const Option &option);
bool is_list(const Option &option); // may be given several times, or with commas
bool is_hidden(const Option &option);

// Those that are shown, with their headings in the order in which these come first. What every command has is added last.
struct OptionGroup {
    std::string heading; // "Options"
    std::vector<Option> options;
};
std::vector<OptionGroup> shown_options(const Command &command);

// What every command takes.
std::vector<Option> common_options();

// "hbf conformance diff [OPTION...] BEFORE AFTER"; a line each where children may be named instead.
std::vector<std::string> synopsis(const CommandPath &path, const Command &command);

struct Example {
    std::string line, what; // what may be empty
};
std::vector<Example> examples_of(const Command &command);

// Ascending; the last is that of signals, "128+N".
struct ExitLine {
    std::string code, meaning;
};
std::vector<ExitLine> exits_of(const Command &command);
std::vector<ExitLine> usual_exits(); // what they mean for most commands

// Variables of the environment, and files, that the command looks at: those of the configuration's keys first.
struct Named {
    std::string name, meaning;
};
std::vector<Named> environment_variables();
std::vector<Named> files_used();

} // namespace hbf::tools
