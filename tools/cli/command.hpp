// SPDX-License-Identifier: Apache-2.0
// A subcommand as data: its name, options and what it does. The parser (cli.cpp), the help (help.cpp), the man pages
// (man.cpp) and what a shell completes (complete.cpp) are all made from it; cli.cpp is the only place that knows CLI11.
//
// To add one: write tools/NAME_command.cpp with a function `Command NAME_command()`, declare it in commands.hpp, list it in
// commands.cpp, add NAME to command_names in tools/meson.build. A test asks every command and child for an example.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <variant>
#include <vector>

namespace hbf::tools {

// What the process says with its exit code. An interrupted run exits with 128 + signal (signals.hpp).
enum class Exit : int {
    pass = 0,
    fail = 1,     // the thing under test failed
    usage = 2,    // the command line is wrong
    error = 3,    // could not decide: an error, too little data
    untested = 77 // nothing here to test
};

struct Number { // integer with its legal range
    uint64_t *target;
    uint64_t least = 0, most = std::numeric_limits<uint64_t>::max();
};
struct Real {
    double *target;
    double least, most;
};
struct Bytes { // "64KiB", "1GB", "4096"
    uint64_t *target;
    uint64_t least = 1;
};
struct Choice {
    std::string *target;
    std::vector<std::string> values;
};

// What completes the value of an option, besides Option::words. by_name: files where it is called FILE, folders where it is
// called DIR, else nothing.
enum class Offer { by_name, files, folders };

struct Option {
    std::string names; // "--tier,--mode", "-o,--output"; without dashes: a positional argument
    std::variant<bool *, std::string *, std::vector<std::string> *, Number, Real, Bytes, Choice> target;
    std::string value; // what help calls the value: "FILE", "BYTES"; unused for a flag
    std::string help;  // the default is said here
    bool required = false;
    std::string group = ""; // heading in the help, "" for "Options"; hidden_option: not shown
    Offer offer = Offer::by_name;
    std::function<std::vector<std::string>()> words = {}; // values that exist here and now; called for completion only
};
constexpr const char *hidden_option = "hidden";

struct ExitMeaning {
    Exit code;
    std::string meaning;
};

struct Command {
    std::string name;
    std::string summary;     // one line
    std::string description; // for --help, may be empty; lines are joined and filled, one that begins with a blank stays
    std::string examples;    // lines "  hbf probe --explain     why each plugin was taken or not": two blanks part them
    std::vector<Option> options;
    std::vector<Command> children;       // "hbf config show": run of the parent is not called when a child is named
    std::function<int()> run;            // the exit code; empty: one of the children must be named
    std::vector<ExitMeaning> exits = {}; // what differs from the usual meanings (exits_of in parts.hpp)
    std::string group = "";              // heading in `hbf help`
    std::string without_root = "";       // what is left out for an ordinary user, "" nothing
};

const std::vector<std::string> &command_line(); // as it was given, for reports

// Parses and runs. Help and version go to stdout with 0; a wrong command line is explained on stderr with Exit::usage, an
// unknown name with the nearest known one. Exceptions become Exit::error.
//
// Where --json is on the line and nothing else came to stdout, a failure is one JSON document there, too (failure.hpp).
int run_command_line(const std::vector<Command> &commands, int argc, const char *const *argv);

// The same without running anything: "" if the line is right, else what would be said. For tests of examples.
std::string command_line_mistake(const std::vector<Command> &commands, const std::vector<std::string> &words);

} // namespace hbf::tools
