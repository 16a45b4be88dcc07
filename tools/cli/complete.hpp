// SPDX-License-Identifier: Apache-2.0
// What a shell offers while a command line of hbf is typed. The scripts in completion/ ask `hbf __complete WORD...` and do
// nothing of their own, so that all shells know what this version of the command knows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/command.hpp"

namespace hbf::tools {

constexpr const char *complete_word = "__complete";

struct Completion {
    struct Candidate {
        std::string word, what; // the whole word, also where part of it is already typed; one line about it, or ""
    };
    std::vector<Candidate> candidates; // those that begin with what is typed
    Offer files = Offer::by_name;      // files or folders too; by_name: neither
};

// `words`: what follows "hbf", the last being the one that is typed, "" if none is begun.
Completion complete(const std::vector<Command> &commands, const std::vector<std::string> &words);

// A line each: word, tab, what. The last is ":files", ":folders" or ":none".
std::string completion_lines(const Completion &completion);

// The script for "bash", "zsh" or "fish"; "" for another name.
std::string_view completion_script(std::string_view shell);

} // namespace hbf::tools
