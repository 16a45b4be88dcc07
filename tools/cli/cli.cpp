// SPDX-License-Identifier: Apache-2.0
// The only file that includes CLI11.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "core/common/suggest.hpp"
#include "core/output/size.hpp"
#include "core/output/stream.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/version.hpp"

namespace hbf::tools {
namespace {

// Adds one option to its CLI11 command, by the kind of its target.
struct Adder {
    CLI::App &app;
    const Option &option;

    void operator()(bool *target) const { place(app.add_flag(option.names, *target, option.help)); }
    void operator()(std::string *target) const { value(app.add_option(option.names, *target, option.help)); }
    void operator()(std::vector<std::string> *target) const {
        auto *added = app.add_option(option.names, *target, option.help)->delimiter(',');
        if (option.names.starts_with('-')) added->take_all()->allow_extra_args(false);
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
    std::vector<Bound> children;
};

Bound bind(CLI::App &parent, const Command &command) {
    auto *app = parent.add_subcommand(command.name, command.summary);
    app->set_help_flag("-h,--help", "this text");
    if (!command.description.empty()) app->description(command.summary + "\n\n" + command.description);
    if (!command.examples.empty()) app->footer("Examples:\n" + command.examples);
    for (const auto &option : command.options) std::visit(Adder{*app, option}, option.target);
    Bound bound{app, &command, {}};
    for (const auto &child : command.children) bound.children.push_back(bind(*app, child));
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

// App::help would answer for whichever command was named on the line.
std::string help_of(const CLI::App &app) {
    std::string before;
    for (const auto *parent = app.get_parent(); parent != nullptr; parent = parent->get_parent()) {
        before.insert(0, before.empty() ? parent->get_name() : parent->get_name() + " ");
    }
    return app.get_formatter()->make_help(&app, before.empty() ? app.get_name() : before + " " + app.get_name(),
                                          CLI::AppFormatMode::Normal);
}

std::string path_of(const CLI::App *app) {
    auto path = app->get_name();
    while ((app = app->get_parent()) != nullptr) path.insert(0, app->get_name() + " ");
    return path;
}

int usage(const CLI::App &app, const std::string &message) {
    print_error(fmt::format("{}: {}\n{}: see '{} --help'", path_of(&app), message, path_of(&app), path_of(&app)));
    return static_cast<int>(Exit::usage);
}

int explain_extras(const CLI::App &app, const std::vector<Command> &children, bool takes_arguments) {
    auto extras = app.remaining(true);
    const auto &extra = extras.empty() ? std::string("?") : extras.front();
    if (extra.starts_with('-')) {
        auto name = extra.substr(0, extra.find('='));
        return usage(app, fmt::format("unknown option '{}'{}", name, did_you_mean(name, option_names(app))));
    }
    if (!children.empty()) {
        auto names = names_of(children);
        return usage(app, fmt::format("unknown command '{}'{}; commands: {}", extra, did_you_mean(extra, names),
                                      fmt::join(names, ", ")));
    }
    return usage(app, fmt::format("{} '{}'", takes_arguments ? "too many arguments:" : "unexpected argument", extra));
}

int run(const Bound &bound) {
    const auto &command = *bound.command;
    if (!command.run)
        return usage(*bound.app, fmt::format("a command is needed: {}", fmt::join(names_of(command.children), ", ")));
    int code = command.run();
    // Output that did not reach its place is an error, whatever it said.
    return close_output() || code != 0 ? code : static_cast<int>(Exit::error);
}

int explain(const CLI::App &app, const std::vector<Command> &commands, const std::vector<Bound> &bound,
            const std::vector<std::string> &names) {
    const CLI::App *about = &app;
    const auto *among = &bound;
    auto known = names_of(commands);
    for (const auto &name : names) {
        auto found = std::find_if(among->begin(), among->end(), [&](const Bound &b) { return b.command->name == name; });
        if (found == among->end()) {
            return usage(*about, fmt::format("unknown command '{}'{}", name, did_you_mean(name, known)));
        }
        about = found->app;
        known = names_of(found->command->children);
        among = &found->children;
    }
    print(help_of(*about));
    return close_output() ? 0 : static_cast<int>(Exit::error);
}

std::vector<std::string> given;

} // namespace

const std::vector<std::string> &command_line() {
    return given;
}

int run_command_line(const std::vector<Command> &commands, int argc, const char *const *argv) {
    given.assign(argv, argv + argc);
    CLI::App app("Hybrid Buffer Fabric: this machine's memory tiers, chosen, measured and verified.", "hbf");
    app.set_help_flag("-h,--help", "this text");
    bool version = false;
    app.add_flag("--version", version, "version of this command, of libhbf and of the plugin ABI");
    app.footer("Exit codes: 0 pass, 1 fail, 2 wrong command line, 3 error or no decision, 77 nothing to test.\n"
               "'hbf help COMMAND' explains a command.");
    app.allow_extras();
    std::vector<Bound> bound;
    for (const auto &command : commands) {
        bound.push_back(bind(app, command));
        bound.back().app->allow_extras();
        for (auto &child : bound.back().children) child.app->allow_extras();
    }
    auto *help = app.add_subcommand("help", "explain a command: hbf help bandwidth");
    // By hand: the parser would take the command to explain for one to run.
    if (argc > 1 && help->get_name() == argv[1]) return explain(app, commands, bound, {argv + 2, argv + argc});

    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp &) {
        const auto *one = chosen(bound);
        print(help_of(one ? *one->app : app));
        return close_output() ? 0 : static_cast<int>(Exit::error);
    } catch (const CLI::ParseError &error) {
        const auto *one = chosen(bound);
        return usage(one ? *one->app : app, error.what());
    }
    if (version) {
        print(version_text());
        return close_output() ? 0 : static_cast<int>(Exit::error);
    }
    const auto *one = chosen(bound);
    if (one == nullptr) {
        if (app.remaining_size() > 0) return explain_extras(app, commands, false);
        print_error(help_of(app));
        return static_cast<int>(Exit::usage);
    }
    if (one->app->remaining_size(true) > 0 || app.remaining_size(true) > 0) {
        bool positional = std::any_of(one->command->options.begin(), one->command->options.end(),
                                      [](const Option &o) { return !o.names.starts_with('-'); });
        return explain_extras(one->app->remaining_size(true) > 0 ? *one->app : app, one->command->children, positional);
    }
    return run(*one);
}

} // namespace hbf::tools
