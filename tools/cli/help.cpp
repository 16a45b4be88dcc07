// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/help.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/output/stream.hpp"
#include "core/output/terminal.hpp"
#include "tools/cli/wrap.hpp"

namespace hbf::tools {
namespace {

constexpr size_t most_columns = 100; // longer lines are hard to read
constexpr size_t left_most = 26;     // a longer left column has its text on the next line
constexpr size_t right_least = 24;   // with less room beside the left column, everything stands on the next line

using Rows = std::vector<std::pair<std::string, std::string>>;

size_t width() {
    return std::min<size_t>(output_width(), most_columns);
}

std::string heading(std::string_view text) {
    return "\n" + coloured(fmt::format("{}:", text), Colour::bold) + "\n";
}

// The widest name among those that do not exceed `most`.
size_t left_width(const Rows &rows, size_t most) {
    size_t left = 0;
    for (const auto &[name, text] : rows)
        if (columns(name) <= most) left = std::max(left, columns(name));
    return left;
}

// Two columns, the right one filled; a name wider than `left` has its text on the next line.
std::string in_columns(const Rows &rows, size_t left) {
    const size_t indent = 2 + left + 2;
    const bool below = indent + right_least > width();
    const std::string margin(below ? 6 : indent, ' ');
    std::string out;
    for (const auto &[name, text] : rows) {
        std::string line = "  " + name;
        const auto filled = fill(text, width() - std::min(margin.size(), width() - 1));
        size_t next = 0;
        if (!below && !filled.empty() && columns(name) <= left) {
            line += std::string(indent - columns(line), ' ') + filled[next];
            ++next;
        }
        out += line + "\n";
        for (; next < filled.size(); ++next) out += margin + filled[next] + "\n";
    }
    return out;
}

std::string two_columns(const Rows &rows, size_t most) {
    return in_columns(rows, left_width(rows, most));
}

std::string prose(std::string_view description) {
    std::string out;
    for (const Paragraph &one : paragraphs(description)) {
        out += "\n";
        if (one.kept)
            out += one.text + "\n";
        else
            for (const auto &line : fill(one.text, width())) out += line + "\n";
    }
    return out;
}

std::string option_name(const Option &option) {
    const auto names = names_of(option);
    if (names.positional()) return option.value.empty() ? names.names.front() : option.value;
    std::string out = fmt::format("{}", fmt::join(names.names, ", "));
    return option.value.empty() ? out : out + " " + option.value;
}

std::string options(const Command &command) {
    std::vector<std::pair<std::string, Rows>> groups;
    size_t left = 0; // the same for all groups
    for (const OptionGroup &group : shown_options(command)) {
        groups.emplace_back(group.heading, Rows{});
        for (const Option &option : group.options) groups.back().second.emplace_back(option_name(option), option.help);
        left = std::max(left, left_width(groups.back().second, left_most));
    }
    std::string out;
    for (const auto &[title, rows] : groups) out += heading(title) + in_columns(rows, left);
    return out;
}

std::string examples(const Command &command) {
    Rows rows;
    for (const Example &one : examples_of(command)) rows.emplace_back(one.line, one.what);
    return rows.empty() ? "" : heading("Examples") + two_columns(rows, 52);
}

std::string exit_status(const std::vector<ExitLine> &exits) {
    Rows rows;
    for (const ExitLine &one : exits) rows.emplace_back(one.code, one.meaning);
    return heading("Exit status") + two_columns(rows, left_most);
}

Rows summaries(const std::vector<Command> &commands) {
    Rows rows;
    for (const Command &one : commands) rows.emplace_back(one.name, one.summary);
    return rows;
}

} // namespace

std::string command_help(const CommandPath &path, const Command &command) {
    std::string out;
    const auto usages = synopsis(path, command);
    for (const auto &line : usages) out += (out.empty() ? "Usage: " : "       ") + line + "\n";
    out += prose(fmt::format("{}: {}.", joined(path), command.summary)) + prose(command.description);
    if (!command.children.empty()) out += heading("Commands") + two_columns(summaries(command.children), left_most);
    out += options(command);
    out += exit_status(exits_of(command));
    if (!command.without_root.empty()) out += prose("Without root: " + command.without_root);
    return out + examples(command);
}

std::string program_help(const std::vector<Command> &commands) {
    std::string out = "Usage: hbf COMMAND [OPTION...]\n" + prose(fmt::format("Hybrid Buffer Fabric: {}.", program_summary));
    std::vector<std::string> groups;
    for (const Command &one : commands)
        if (std::find(groups.begin(), groups.end(), one.group) == groups.end()) groups.push_back(one.group);
    for (const std::string &group : groups) {
        std::vector<Command> members;
        std::copy_if(commands.begin(), commands.end(), std::back_inserter(members),
                     [&](const Command &one) { return one.group == group; });
        out += heading(group.empty() ? "Commands" : group) + two_columns(summaries(members), left_most);
    }
    out += heading("Options") + two_columns({{"-h, --help", "this text; 'hbf help COMMAND' explains a command"},
                                             {"--version", "version of this command, of libhbf and of the plugin ABI"}},
                                            left_most);
    return out + exit_status(usual_exits());
}

} // namespace hbf::tools
