// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/parts.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "hbf/config.hpp"

namespace hbf::tools {
namespace {

std::string display_name(const Option &option) {
    return option.value.empty() ? names_of(option).names.front() : option.value;
}

} // namespace

std::string joined(const CommandPath &path) {
    return fmt::format("{}", fmt::join(path, " "));
}

OptionNames names_of(const Option &option) {
    OptionNames out;
    std::istringstream names(option.names);
    for (std::string name; std::getline(names, name, ',');) out.names.push_back(name);
    return out;
}

bool is_flag(const Option &option) {
    return std::holds_alternative<bool *>(option.target);
}

bool is_list(const Option &option) {
    return std::holds_alternative<std::vector<std::string> *>(option.target);
}

bool is_hidden(const Option &option) {
    return option.group == hidden_option;
}

std::vector<Option> common_options() {
    static bool help = false;
    static std::string colour;
    return {
        {"--color,--colour", Choice{&colour, {"auto", "always", "never"}}, "WHEN",
         "auto (on a terminal, unless NO_COLOR is set; default), always or never", false, "Every command"},
        {"-h,--help", &help, "", "this text", false, "Every command"},
    };
}

std::vector<OptionGroup> shown_options(const Command &command) {
    std::vector<OptionGroup> out;
    const auto add = [&out](const Option &option) {
        if (is_hidden(option)) return;
        const std::string heading = !option.group.empty()           ? option.group
                                    : names_of(option).positional() ? "Arguments"
                                                                    : "Options";
        auto found = std::find_if(out.begin(), out.end(), [&](const OptionGroup &g) { return g.heading == heading; });
        if (found == out.end()) found = out.insert(out.end(), {heading, {}});
        found->options.push_back(option);
    };
    for (const Option &option : command.options) add(option);
    for (const Option &option : common_options()) add(option);
    return out;
}

std::vector<std::string> synopsis(const CommandPath &path, const Command &command) {
    std::vector<std::string> out;
    if (command.run) {
        std::string line = joined(path) + " [OPTION...]";
        for (const Option &option : command.options) {
            if (is_hidden(option)) continue;
            if (names_of(option).positional()) {
                const std::string name = display_name(option) + (is_list(option) ? "..." : "");
                line += option.required ? " " + name : fmt::format(" [{}]", name);
            } else if (option.required) {
                line += fmt::format(" {} {}", names_of(option).names.back(), option.value);
            }
        }
        out.push_back(line);
    }
    if (!command.children.empty()) out.push_back(joined(path) + " COMMAND [OPTION...]");
    return out;
}

std::vector<Example> examples_of(const Command &command) {
    std::vector<Example> out;
    std::istringstream lines(command.examples);
    for (std::string line; std::getline(lines, line);) {
        const size_t start = line.find_first_not_of(' ');
        if (start == line.npos) continue;
        const size_t gap = line.find("  ", start);
        const size_t what = gap == line.npos ? line.npos : line.find_first_not_of(' ', gap);
        out.push_back({line.substr(start, gap - start), what == line.npos ? "" : line.substr(what)});
    }
    return out;
}

std::vector<ExitLine> exits_of(const Command &command) {
    std::map<Exit, std::string> all = {{Exit::pass, "done"},
                                       {Exit::usage, "the command line is wrong"},
                                       {Exit::error, "an error, or output that could not be written: nothing is decided"}};
    for (const ExitMeaning &one : command.exits) all[one.code] = one.meaning;
    std::vector<ExitLine> out;
    for (const auto &[code, meaning] : all) out.push_back({std::to_string(static_cast<int>(code)), meaning});
    out.push_back({"128+N", "ended by signal N: 130 after Ctrl-C, 143 after SIGTERM"});
    return out;
}

std::vector<ExitLine> usual_exits() {
    Command any;
    any.exits = {{Exit::pass, "pass, or done"},
                 {Exit::fail, "fail: what was tested is not as it should be"},
                 {Exit::untested, "nothing here to test"}};
    return exits_of(any);
}

std::vector<Named> environment_variables() {
    std::vector<Named> out;
    for (const ConfigKey &key : config_keys()) {
        const std::string meaning = fmt::format("{}: {}", key.name, key.doc);
        auto found = std::find_if(out.begin(), out.end(), [&](const Named &n) { return n.name == key.environment; });
        if (found == out.end())
            out.push_back({std::string(key.environment), meaning});
        else
            found->meaning += "; " + meaning;
    }
    out.push_back({"HBF_PLUGIN_<NAME>_<KEY>",
                   "plugin.NAME.KEY: handed to plugin NAME (HBF_PLUGIN_<NAME>__<KEY> where NAME has an underscore)"});
    out.push_back({"NO_COLOR", "set and not empty: no colour"});
    out.push_back({"CLICOLOR_FORCE", "set, neither empty nor 0: colour into pipes and files too, unless NO_COLOR is set"});
    out.push_back({"TERM", "dumb: neither colour nor progress"});
    out.push_back({"COLUMNS", "width of the help, instead of the terminal's"});
    out.push_back({"XDG_CONFIG_HOME, XDG_CACHE_HOME", "instead of ~/.config and ~/.cache"});
    return out;
}

std::vector<Named> files_used() {
    // As they are for a user without special settings; only the words for the folder of that user are not a real path.
    const char *home = std::getenv("HOME"), *xdg = std::getenv("XDG_CONFIG_HOME");
    const std::string old_home = home ? home : "", old_xdg = xdg ? xdg : "";
    setenv("HOME", "/HOME", 1);
    unsetenv("XDG_CONFIG_HOME");
    std::vector<Named> out;
    for (const ConfigFile &file : config_files()) {
        std::string path = file.path.string();
        if (path.starts_with("/HOME/")) path.replace(0, 5, "~");
        if (!path.empty()) out.push_back({path, fmt::format("settings: {}", to_string(file.origin))});
    }
    home ? setenv("HOME", old_home.c_str(), 1) : unsetenv("HOME");
    if (xdg) setenv("XDG_CONFIG_HOME", old_xdg.c_str(), 1);
    out.push_back({"~/.cache/hbf", "what earlier probes found, and the storage tier's folder"});
    return out;
}

} // namespace hbf::tools
