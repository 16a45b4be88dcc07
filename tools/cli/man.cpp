// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/man.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "tools/cli/parts.hpp"
#include "tools/cli/version.hpp"
#include "tools/cli/wrap.hpp"

namespace hbf::tools {
namespace {

std::string escaped(std::string_view text, bool line_starts) {
    std::string out;
    for (const char c : text) {
        if (line_starts && (c == '.' || c == '\'')) out += "\\&";
        switch (c) {
        case '\\':
            out += "\\e";
            break;
        case '-':
            out += "\\-";
            break;
        case '\'':
            out += "\\(aq";
            break;
        case '`':
            out += "\\(ga";
            break;
        case '^':
            out += "\\(ha";
            break;
        case '~':
            out += "\\(ti";
            break;
        case '"':
            out += "\\(dq";
            break;
        default:
            out += c;
        }
        line_starts = c == '\n';
    }
    return out;
}

std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
    return text;
}

std::string bold(std::string_view text) {
    return "\\fB" + roff_text(text) + "\\fR";
}

std::string italic(std::string_view text) {
    return "\\fI" + roff_text(text) + "\\fR";
}

std::string heading(std::string_view title) {
    return fmt::format(".SH {}\n", title);
}

std::string start(const std::string &name, const std::string &summary) {
    // No date: the same sources give the same page on any day.
    return fmt::format(".\\\" Made by `hbf help --man` from the command's own definitions.\n"
                       ".TH {} 1 \"\" \"hbf {}\" \"Hybrid Buffer Fabric\"\n"
                       // Words to type are neither hyphenated nor spaced out.
                       ".nh\n.ad l\n",
                       roff_text(upper(name)), roff_text(tool_version())) +
           heading("NAME") + roff_text(name) + " \\- " + roff_text(summary) + "\n";
}

std::string tagged(const std::string &tag, std::string_view text) {
    return ".TP\n" + tag + "\n" + (text.empty() ? "\\&" : roff_text(text)) + "\n";
}

// As it stands, in an indented block.
std::string kept(std::string_view text) {
    return ".PP\n.RS 4\n.nf\n" + roff_text(text) + "\n.fi\n.RE\n";
}

std::string prose(std::string_view description) {
    std::string out;
    for (const Paragraph &one : paragraphs(description))
        out += one.kept ? kept(one.text) : ".PP\n" + roff_text(one.text) + "\n";
    return out;
}

// The command in bold, words in capitals in italics.
std::string synopsis_line(const CommandPath &path, std::string_view line) {
    line.remove_prefix(joined(path).size());
    std::string out = bold(joined(path)), word;
    const auto flush = [&] {
        if (word.size() > 1 && std::all_of(word.begin(), word.end(), [](unsigned char c) { return !std::islower(c); }))
            out += italic(word);
        else
            out += word.starts_with('-') ? bold(word) : roff_text(word);
        word.clear();
    };
    for (const char c : line) {
        if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '|' || c == '_') {
            word += c;
            continue;
        }
        flush();
        out += escaped({&c, 1}, false);
    }
    flush();
    return out + "\n";
}

std::string synopses(const CommandPath &path, const Command &command) {
    std::string out;
    for (const auto &line : synopsis(path, command)) out += (out.empty() ? "" : ".br\n") + synopsis_line(path, line);
    return out;
}

std::string option_tag(const Option &option) {
    const auto names = names_of(option);
    if (names.positional()) return italic(option.value.empty() ? names.names.front() : option.value);
    std::string out;
    for (const auto &name : names.names) out += (out.empty() ? "" : ", ") + bold(name);
    return option.value.empty() ? out : out + " " + italic(option.value);
}

// `title` makes a heading of a group's name.
template <class Title>
std::string options(const std::vector<OptionGroup> &groups, Title title) {
    std::string out;
    for (const OptionGroup &group : groups) {
        out += title(group.heading);
        for (const Option &option : group.options) out += tagged(option_tag(option), option.help);
    }
    return out;
}

std::string examples(const std::vector<Example> &all) {
    std::string out;
    for (const Example &one : all) out += (one.what.empty() ? "" : ".PP\n" + roff_text(one.what) + ":\n") + kept(one.line);
    return out;
}

std::string exits(const std::vector<ExitLine> &all) {
    std::string out;
    for (const ExitLine &one : all) out += tagged(bold(one.code), one.meaning);
    return out;
}

std::string named(const std::vector<Named> &all) {
    std::string out;
    for (const Named &one : all) out += tagged(bold(one.name), one.meaning);
    return out;
}

std::string environment_and_files() {
    return heading("ENVIRONMENT") + named(environment_variables()) + heading("FILES") + named(files_used());
}

std::string page_name(const Command &command) {
    return "hbf-" + command.name;
}

std::string see_also(const std::vector<Command> &commands, const std::string &but) {
    std::string out;
    const auto add = [&](const std::string &name) {
        if (name != but) out += (out.empty() ? "" : ",\n") + bold(name) + "(1)";
    };
    add("hbf");
    for (const Command &one : commands) add(page_name(one));
    return heading("SEE ALSO") + out + "\n";
}

// A paragraph begins by itself after a heading; mandoc minds one that is asked for.
std::string finished(std::string page) {
    for (size_t at = 0; (at = page.find("\n.PP\n", at)) != page.npos;) {
        const size_t line = page.rfind('\n', at - 1) + 1;
        if (page.compare(line, 4, ".SH ") == 0 || page.compare(line, 4, ".SS ") == 0)
            page.erase(at, 4);
        else
            ++at;
    }
    return page;
}

std::string child_section(const CommandPath &parent, const Command &child) {
    CommandPath path = parent;
    path.push_back(child.name);
    std::string out = fmt::format(".SS {}\n", roff_text(joined(path))) + synopses(path, child) + ".PP\n" +
                      roff_text(fmt::format("{}.", child.summary)) + "\n" + prose(child.description);
    auto groups = shown_options(child);
    groups.pop_back(); // what every command takes: said once, for the page
    out += options(groups, [](const std::string &) { return ""; });
    if (!child.exits.empty()) {
        std::string said;
        for (const ExitMeaning &one : child.exits)
            said += fmt::format("{}{}: {}", said.empty() ? "" : "; ", static_cast<int>(one.code), one.meaning);
        out += ".PP\n" + roff_text("Exit status " + said + ".") + "\n";
    }
    return out;
}

} // namespace

std::string roff_text(std::string_view text) {
    return escaped(text, true);
}

std::string command_man_page(const Command &command, const std::vector<Command> &commands) {
    const CommandPath path = {"hbf", command.name};
    std::string out = start(page_name(command), command.summary);
    out += heading("SYNOPSIS") + synopses(path, command);
    for (const Command &child : command.children) {
        CommandPath below = path;
        below.push_back(child.name);
        out += ".br\n" + synopses(below, child);
    }
    out += heading("DESCRIPTION");
    out += command.description.empty() ? roff_text(fmt::format("{}.", command.summary)) + "\n" : prose(command.description);
    if (!command.without_root.empty()) out += ".PP\n" + roff_text("Without root: " + command.without_root) + "\n";
    if (!command.children.empty()) {
        out += heading("COMMANDS");
        for (const Command &child : command.children) out += child_section(path, child);
    }
    out += heading("OPTIONS") + options(shown_options(command),
                                        [](const std::string &group) { return fmt::format(".SS {}\n", roff_text(group)); });
    out += heading("EXIT STATUS") + exits(exits_of(command)) + environment_and_files();
    out += heading("EXAMPLES") + examples(examples_of(command));
    for (const Command &child : command.children) out += examples(examples_of(child));
    return finished(out + see_also(commands, page_name(command)));
}

std::string program_man_page(const std::vector<Command> &commands) {
    std::string out = start("hbf", program_summary) + heading("SYNOPSIS") + bold("hbf") + " " + italic("COMMAND") + " [" +
                      italic("OPTION") + "...]\n";
    out += heading("DESCRIPTION") +
           roff_text("HBF, the Hybrid Buffer Fabric, is one small C interface through which a machine's memory and storage "
                     "tiers are found, copied between and verified, whoever made the hardware. This command shows what was "
                     "chosen on a machine, measures it and tests it.") +
           "\n" +
           prose("With --json, stdout holds one JSON document, also where a command fails before it has a report: then its "
                 "schema is hbf.error, error.code is fail, usage, error, untested or interrupted, and error.message is what "
                 "stands on stderr.") +
           heading("COMMANDS");
    for (const Command &one : commands) out += tagged(bold(page_name(one)) + "(1)", one.summary + ".");
    Command common;
    out += heading("OPTIONS") + options(shown_options(common), [](const std::string &) { return ""; }) +
           tagged(bold("--version"), "version of this command, of libhbf and of the plugin ABI");
    out += heading("EXIT STATUS") + exits(usual_exits());
    out += environment_and_files() + heading("EXAMPLES");
    for (const Command &one : commands) {
        auto all = examples_of(one);
        if (all.size() > 1) all.resize(1);
        out += examples(all);
    }
    return finished(out + see_also(commands, "hbf"));
}

} // namespace hbf::tools
