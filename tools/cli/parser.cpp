// SPDX-License-Identifier: Apache-2.0
// The only file that includes CLI11.
#include "tools/cli/parser.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "core/common/suggest.hpp"
#include "core/output/size.hpp"

namespace hbf::tools {
namespace {

// Adds one option to its CLI11 command, by the kind of its target.
struct Adder {
    CLI::App &app;
    const Option &option;

    void operator()(bool *target) const { place(app.add_flag(option.names, *target, option.help)); }
    void operator()(std::string *target) const { value(app.add_option(option.names, *target, option.help)); }
    void operator()(std::vector<std::string> *target) const {
        auto *added = app.add_option(option.names, *target, option.help);
        // A list of arguments is words of a command line: a comma is theirs.
        if (option.names.starts_with('-')) added->delimiter(',')->take_all()->allow_extra_args(false);
        value(added);
    }
    void operator()(const Number &number) const {
        value(app.add_option_function<std::string>(
            option.names,
            [this_option = option, number](const std::string &text) {
                auto parsed = parse_number(text);
                if (!parsed || *parsed < number.least || *parsed > number.most) {
                    auto range = number.most == std::numeric_limits<uint64_t>::max()
                                     ? fmt::format("of at least {}", number.least)
                                     : fmt::format("in {}..{}", number.least, number.most);
                    throw CLI::ValidationError(this_option.names, fmt::format("'{}' is not a whole number {}", text, range));
                }
                *number.target = *parsed;
            },
            option.help));
    }
    void operator()(const Real &real) const {
        value(app.add_option_function<std::string>(
            option.names,
            [this_option = option, real](const std::string &text) {
                auto parsed = parse_real(text);
                if (!parsed || !(*parsed >= real.least && *parsed <= real.most)) {
                    throw CLI::ValidationError(this_option.names,
                                               fmt::format("'{}' is not a number in {}..{}", text, real.least, real.most));
                }
                *real.target = *parsed;
            },
            option.help));
    }
    void operator()(const Bytes &bytes) const {
        value(app.add_option_function<std::string>(
            option.names,
            [this_option = option, bytes](const std::string &text) {
                auto parsed = parse_size(text);
                if (!parsed) throw CLI::ValidationError(this_option.names, parsed.error());
                if (*parsed < bytes.least) {
                    throw CLI::ValidationError(this_option.names,
                                               fmt::format("{} is less than the smallest possible, {}", format_size(*parsed),
                                                           format_size(bytes.least)));
                }
                *bytes.target = *parsed;
            },
            option.help));
    }
    void operator()(const Choice &choice) const {
        value(app.add_option_function<std::string>(
            option.names,
            [this_option = option, choice](const std::string &text) {
                if (std::find(choice.values.begin(), choice.values.end(), text) == choice.values.end()) {
                    throw CLI::ValidationError(this_option.names, fmt::format("unknown value '{}'{}; one of: {}", text,
                                                                              did_you_mean(text, choice.values),
                                                                              fmt::join(choice.values, ", ")));
                }
                *choice.target = text;
            },
            option.help));
    }

private:
    void place(CLI::Option *added) const {
        if (!option.group.empty()) added->group(option.group == hidden_option ? "" : option.group);
    }
    void value(CLI::Option *added) const {
        place(added);
        if (!option.value.empty()) added->type_name(option.value);
        if (option.required) added->required();
    }
};

struct Bound { // a CLI11 command and where it came from
    CLI::App *app;
    const Command *command;
    CommandPath path;
    std::vector<Bound> children;
};

void add_common(CLI::App &app, std::string &colour) {
    app.set_help_flag("-h,--help", "");
    app.allow_extras();           // explained here, with the nearest name
    app.require_subcommand(0, 1); // a second one would be parsed, and not run
    for (Option option : common_options()) {
        auto *choice = std::get_if<Choice>(&option.target);
        if (!choice) continue;
        choice->target = &colour;
        std::visit(Adder{app, option}, option.target);
    }
}

Bound bind_command(CLI::App &parent, const CommandPath &path, const Command &command, std::string &colour) {
    auto *app = parent.add_subcommand(command.name, command.summary);
    add_common(*app, colour);
    for (const auto &option : command.options) std::visit(Adder{*app, option}, option.target);
    Bound bound{app, &command, path, {}};
    bound.path.push_back(command.name);
    for (const auto &child : command.children) bound.children.push_back(bind_command(*app, bound.path, child, colour));
    return bound;
}

std::vector<std::string> names_of(const std::vector<Command> &commands) {
    std::vector<std::string> names;
    for (const auto &command : commands) names.push_back(command.name);
    return names;
}

std::vector<std::string> option_names(const CLI::App &app) {
    std::vector<std::string> names;
    for (const auto *option : app.get_options()) {
        if (option->get_group().empty()) continue; // hidden
        for (const auto &name : option->get_lnames()) names.push_back("--" + name);
    }
    return names;
}

// The deepest command that was named.
const Bound *chosen(const std::vector<Bound> &bound) {
    for (const auto &one : bound) {
        if (!one.app->parsed()) continue;
        const auto *child = chosen(one.children);
        return child ? child : &one;
    }
    return nullptr;
}

std::string explain_extra(const CLI::App &app, const std::string &extra, const std::vector<Command> &children,
                          bool takes_arguments) {
    if (extra.starts_with('-')) {
        const auto name = extra.substr(0, extra.find('='));
        return fmt::format("unknown option '{}'{}", name, did_you_mean(name, option_names(app)));
    }
    if (!children.empty()) {
        const auto names = names_of(children);
        return fmt::format("unknown command '{}'{}; commands: {}", extra, did_you_mean(extra, names),
                           fmt::join(names, ", "));
    }
    return fmt::format("{} '{}'", takes_arguments ? "too many arguments:" : "unexpected argument", extra);
}

bool takes_arguments(const Command &command) {
    return std::any_of(command.options.begin(), command.options.end(),
                       [](const Option &option) { return names_of(option).positional(); });
}

} // namespace

Parsed parse(const std::vector<Command> &commands, const std::vector<std::string> &words) {
    Parsed out;
    out.path = {"hbf"};
    CLI::App app("", "hbf");
    add_common(app, out.colour);
    app.add_flag("--version", out.version, "");
    std::vector<Bound> bound;
    for (const auto &command : commands) bound.push_back(bind_command(app, out.path, command, out.colour));

    std::vector<const char *> argv;
    for (const auto &word : words) argv.push_back(word.c_str());
    bool incomplete = false; // something required is missing
    try {
        app.parse(static_cast<int>(argv.size()), argv.data());
    } catch (const CLI::CallForHelp &) {
        out.help = true;
    } catch (const CLI::RequiredError &error) {
        out.mistake = error.what();
        incomplete = true;
    } catch (const CLI::ParseError &error) {
        out.mistake = error.what();
    }
    const auto *one = chosen(bound);
    if (one) {
        out.command = one->command;
        out.path = one->path;
    }
    if (out.help || out.version || (!out.mistake.empty() && !incomplete)) return out;
    auto extras = one ? one->app->remaining(true) : std::vector<std::string>();
    // The mark behind which nothing is an option: taken, and left among what was not.
    if (const auto mark = std::find(extras.begin(), extras.end(), "--"); mark != extras.end()) extras.erase(mark);
    const auto before = app.remaining(false); // also of a line without a command
    const auto is_option = [](const std::string &word) { return word.starts_with('-'); };
    if (const auto unknown = std::find_if(extras.begin(), extras.end(), is_option); unknown != extras.end())
        out.mistake = explain_extra(*one->app, *unknown, one->command->children, false); // may be why something is missing
    else if (incomplete)
        return out;
    else if (!extras.empty())
        out.mistake = explain_extra(*one->app, extras.front(), one->command->children, takes_arguments(*one->command));
    else if (!before.empty())
        out.mistake = explain_extra(app, before.front(), commands, false);
    if (out.mistake.empty() && one && !one->command->run)
        out.mistake = fmt::format("a command is needed: {}", fmt::join(names_of(one->command->children), ", "));
    return out;
}

} // namespace hbf::tools
