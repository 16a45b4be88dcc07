// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "core/common/suggest.hpp"
#include "core/output/stream.hpp"
#include "core/output/terminal.hpp"
#include "tools/cli/complete.hpp"
#include "tools/cli/failure.hpp"
#include "tools/cli/help.hpp"
#include "tools/cli/man.hpp"
#include "tools/cli/parser.hpp"
#include "tools/cli/version.hpp"

namespace hbf::tools {
namespace {

std::vector<std::string> given;
size_t printed_before = 0, errors_before = 0; // this command line

// Output that did not reach its place is an error, whatever it said.
int finish(int code) {
    return close_output() || code != 0 ? code : static_cast<int>(Exit::error);
}

int say(const std::string &text) {
    print(text);
    return finish(0);
}

int usage(const CommandPath &path, const std::string &message) {
    const auto name = joined(path);
    print_error(fmt::format("{}: {}\n{}: see '{} --help'", name, message, name, name));
    return static_cast<int>(Exit::usage);
}

const Command *find(const std::vector<Command> &commands, const std::string &name) {
    const auto found = std::find_if(commands.begin(), commands.end(), [&](const Command &one) { return one.name == name; });
    return found == commands.end() ? nullptr : &*found;
}

// hbf help [COMMAND...]
int explain(const std::vector<Command> &commands, const std::vector<std::string> &names) {
    CommandPath path = {"hbf"};
    const auto *among = &commands;
    const Command *about = nullptr;
    for (const auto &name : names) {
        const Command *next = find(*among, name);
        if (!next) {
            std::vector<std::string> known;
            for (const Command &one : *among) known.push_back(one.name);
            return usage(path, fmt::format("unknown command '{}'{}", name, did_you_mean(name, known)));
        }
        about = next;
        among = &next->children;
        path.push_back(name);
    }
    return say(about ? command_help(path, *about) : program_help(commands));
}

// hbf help --man [COMMAND]: the page itself, for the build and for `man -l -`.
int man_page(const std::vector<Command> &commands, const std::vector<std::string> &names) {
    if (names.empty()) return say(program_man_page(commands));
    const Command *about = find(commands, names.front());
    if (!about || names.size() > 1) return usage({"hbf", "help"}, "--man takes the name of one command of hbf");
    return say(command_man_page(*about, commands));
}

// Does the line ask for a JSON document on stdout? What stands after "--" is for another command.
bool asks_for_json(const Command &command) {
    const auto end = std::find(given.begin(), given.end(), "--");
    const auto word = [&](const std::string &text) { return std::find(given.begin(), end, text); };
    const auto begins = [&](const std::string &text) {
        return std::any_of(given.begin(), end, [&](const std::string &one) { return one.starts_with(text); });
    };
    const auto option = std::find_if(command.options.begin(), command.options.end(),
                                     [](const Option &one) { return one.names == "--json"; });
    if (option == command.options.end()) return false;
    if (word("-o") != end || begins("--output")) return false; // the document is for that file
    const auto json = word("--json");
    if (std::holds_alternative<bool *>(option->target)) return json != end;
    return begins("--json=-") || (json != end && json + 1 != end && json[1] == "-");
}

// A program that reads stdout gets one document, whatever happened.
int settle(const Command *command, int code) {
    if (code != 0 && command && asks_for_json(*command) && printed_bytes() == printed_before)
        print(failure_json(code, given,
                           {printed_errors().begin() + static_cast<std::ptrdiff_t>(errors_before), printed_errors().end()}));
    return finish(code);
}

int run(const Command &command) {
    try {
        return command.run();
    } catch (const std::exception &error) {
        print_error(fmt::format("hbf: {}", error.what()));
        return static_cast<int>(Exit::error);
    }
}

} // namespace

const std::vector<std::string> &command_line() {
    return given;
}

int run_command_line(const std::vector<Command> &commands, int argc, const char *const *argv) {
    given.assign(argv, argv + argc);
    printed_before = printed_bytes();
    errors_before = printed_errors().size();
    const std::vector<std::string> words(given.begin() + std::min<std::ptrdiff_t>(2, argc), given.end());
    // By hand: the parser would take what is to be explained, or completed, for something to run.
    if (argc > 1 && given[1] == complete_word) return say(completion_lines(complete(commands, words)));
    if (argc > 2 && given[1] == "help" && given[2] == "--man") return man_page(commands, {words.begin() + 1, words.end()});
    if (argc > 1 && given[1] == "help" && (argc == 2 || !given[2].starts_with('-'))) return explain(commands, words);

    auto line = given;
    if (argc > 1 && given[1] == "help") line.erase(line.begin() + 1); // hbf help --help
    const Parsed parsed = parse(commands, line);
    if (!parsed.colour.empty())
        choose_colour(parsed.colour == "always"  ? ColourWhen::always
                      : parsed.colour == "never" ? ColourWhen::never
                                                 : ColourWhen::automatic);
    if (parsed.help) return say(parsed.command ? command_help(parsed.path, *parsed.command) : program_help(commands));
    if (!parsed.mistake.empty()) return settle(parsed.command, usage(parsed.path, parsed.mistake));
    if (parsed.version) return say(version_text());
    if (!parsed.command) {
        const PlainText for_stderr;
        print_error(program_help(commands));
        return static_cast<int>(Exit::usage);
    }
    return settle(parsed.command, run(*parsed.command));
}

std::string command_line_mistake(const std::vector<Command> &commands, const std::vector<std::string> &words) {
    const Parsed parsed = parse(commands, words);
    if (!parsed.mistake.empty() || parsed.help || parsed.version || parsed.command) return parsed.mistake;
    return words.size() > 1 && words[1] == "help" ? "" : "no command";
}

} // namespace hbf::tools
