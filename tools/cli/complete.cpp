// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/complete.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/common/printable.hpp"
#include "tools/cli/parts.hpp"

namespace hbf::tools {
namespace {

using Words = std::vector<std::string>;

// The command line up to the word that is typed.
struct Place {
    const std::vector<Command> *children = nullptr; // that may be named here
    std::vector<Option> options;
    const Option *awaits = nullptr; // the word before was this option, which takes a value
    size_t arguments = 0;           // positional ones so far
    bool options_ended = false;     // by "--"
    Words given;                    // options so far
};

const Option *find_option(const std::vector<Option> &options, std::string_view name) {
    for (const Option &one : options) {
        const auto names = names_of(one).names;
        if (std::find(names.begin(), names.end(), name) != names.end()) return &one;
    }
    return nullptr;
}

void enter(Place &place, const Command &command) {
    place.children = &command.children;
    place.options = command.options;
    for (const Option &one : common_options()) place.options.push_back(one);
}

void read_word(Place &place, const std::string &word) {
    if (place.awaits) {
        place.awaits = nullptr;
    } else if (!place.options_ended && word == "--") {
        place.options_ended = true;
    } else if (!place.options_ended && word.starts_with('-') && word.size() > 1) {
        const std::string name = word.substr(0, word.find('='));
        place.given.push_back(name);
        const Option *option = find_option(place.options, name);
        if (option && !is_flag(*option) && name == word) place.awaits = option;
    } else if (place.arguments == 0) {
        const auto child = std::find_if(place.children->begin(), place.children->end(),
                                        [&](const Command &one) { return one.name == word; });
        if (child != place.children->end())
            enter(place, *child);
        else
            ++place.arguments;
    } else {
        ++place.arguments;
    }
}

void offer(Completion &out, const std::string &typed, const std::string &word, const std::string &what = "") {
    if (word.starts_with(typed)) out.candidates.push_back({word, what});
}

void offer_commands(Completion &out, const std::string &typed, const std::vector<Command> &commands) {
    for (const Command &one : commands) offer(out, typed, one.name, one.summary);
}

// `before` is what stands in the same word before the value: "--tier=".
void offer_value(Completion &out, const Option &option, const std::string &before, std::string typed) {
    std::string kept = before;
    if (is_list(option)) {
        if (const size_t comma = typed.rfind(','); comma != typed.npos) {
            kept += typed.substr(0, comma + 1);
            typed.erase(0, comma + 1);
        }
    }
    if (const auto *choice = std::get_if<Choice>(&option.target))
        for (const auto &value : choice->values) offer(out, kept + typed, kept + value);
    if (option.words)
        for (const auto &value : option.words()) offer(out, kept + typed, kept + value);
    out.files = option.offer;
    if (option.offer == Offer::by_name && option.value == "FILE") out.files = Offer::files;
    if (option.offer == Offer::by_name && option.value == "DIR") out.files = Offer::folders;
}

void offer_options(Completion &out, const std::string &typed, const Place &place) {
    for (const Option &one : place.options) {
        const auto names = names_of(one);
        if (names.positional() || is_hidden(one)) continue;
        const bool used = std::any_of(place.given.begin(), place.given.end(), [&](const std::string &given) {
            return std::find(names.names.begin(), names.names.end(), given) != names.names.end();
        });
        if (used && !is_list(one)) continue;
        for (const auto &name : names.names)
            if (name.starts_with("--") || typed == "-") offer(out, typed, name, one.help);
    }
}

// The positional that comes next; a list is the last and takes all that follow.
const Option *next_argument(const Place &place) {
    size_t index = 0;
    for (const Option &one : place.options) {
        if (!names_of(one).positional()) continue;
        if (index == place.arguments || is_list(one)) return &one;
        ++index;
    }
    return nullptr;
}

Completion complete_help(const std::vector<Command> &commands, const Words &words) {
    Completion out;
    const auto *among = &commands;
    for (size_t i = 1; i + 1 < words.size(); ++i) {
        const auto found =
            std::find_if(among->begin(), among->end(), [&](const Command &one) { return one.name == words[i]; });
        if (found == among->end()) return out;
        among = &found->children;
    }
    offer_commands(out, words.back(), *among);
    return out;
}

} // namespace

Completion complete(const std::vector<Command> &commands, const Words &words) {
    const std::string typed = words.empty() ? "" : words.back();
    if (words.size() > 1 && words.front() == "help") return complete_help(commands, words);
    Command program;
    program.children = commands;
    bool version = false;
    program.options = {{"--version", &version, "", "version of this command, of libhbf and of the plugin ABI"}};
    Place place;
    enter(place, program);
    for (size_t i = 0; i + 1 < words.size(); ++i) read_word(place, words[i]);

    Completion out;
    if (place.awaits) {
        offer_value(out, *place.awaits, "", typed);
    } else if (!place.options_ended && typed.starts_with('-')) {
        const size_t equals = typed.find('=');
        const Option *option = equals == typed.npos ? nullptr : find_option(place.options, typed.substr(0, equals));
        if (option && !is_flag(*option))
            offer_value(out, *option, typed.substr(0, equals + 1), typed.substr(equals + 1));
        else if (equals == typed.npos)
            offer_options(out, typed, place);
    } else {
        if (place.arguments == 0) {
            offer_commands(out, typed, *place.children);
            if (place.children == &program.children) offer(out, typed, "help", "explain a command");
        }
        if (const Option *argument = next_argument(place)) offer_value(out, *argument, "", typed);
    }
    return out;
}

std::string completion_lines(const Completion &completion) {
    std::string out;
    for (const auto &one : completion.candidates)
        out += one.what.empty() ? printable(one.word) + "\n"
                                : fmt::format("{}\t{}\n", printable(one.word), printable(one.what));
    const Offer files = completion.files;
    return out + (files == Offer::files ? ":files\n" : files == Offer::folders ? ":folders\n" : ":none\n");
}

} // namespace hbf::tools
