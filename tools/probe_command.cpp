// SPDX-License-Identifier: Apache-2.0
// hbf probe: which plugins serve this host, what they offer, and why the others do not.
#include <filesystem>
#include <memory>
#include <system_error>

#include <fmt/format.h>

#include "core/common/printable.hpp"
#include "core/output/stream.hpp"
#include "hbf/selection.hpp"
#include "tools/commands.hpp"
#include "tools/emulated.hpp"
#include "tools/probe/report.hpp"
#include "tools/signals.hpp"
#include "tools/without_root.hpp"

namespace hbf::tools {
namespace {

struct Flags {
    bool explain = false, json = false, no_cache = false;
    std::string root = "/";
};

int code(Exit exit) {
    return static_cast<int>(exit);
}

Result<Selection> select(const Flags &flags, const ConfigSources &sources) {
    const auto config = Config::load(sources);
    if (!config) return tl::unexpected(config.error());
    SelectOptions options;
    options.root = flags.root;
    options.use_cache = !flags.no_cache;
    options.open = false; // each plugin was opened once in a process of its own: nothing of it is needed in this one
    options.cancelled = [] { return interrupted() != 0; };
    return select_plugins(*config, options);
}

// Unavailable is an answer about this host (an unmet pin); anything else means that there is no answer.
int report_error(const Flags &flags, const Error &error) {
    if (error.code == Code::cancelled) {
        print_error("hbf probe: " + error.message);
        return interrupted_exit_code();
    }
    const Exit exit = error.code == Code::unavailable ? Exit::fail : Exit::error;
    if (flags.json) {
        print(probe::report_json(error));
        return code(exit);
    }
    // With the pin set aside, the table tells more than the error.
    if (flags.explain && exit == Exit::fail) {
        ConfigSources sources;
        sources.api["plugins.pin"] = "";
        if (const auto unpinned = select(flags, sources)) print(said_emulated(probe::report_explain(*unpinned)));
    }
    if (exit == Exit::error)
        print_error("hbf probe: " + error.message);
    else
        print(said_emulated(printable_lines("HBF not ready: " + error.message + "\n")));
    return code(exit);
}

int run_probe(const Flags &flags) {
    if (std::error_code error; !std::filesystem::is_directory(flags.root, error)) {
        print_error(fmt::format("hbf probe: --root {}: {}", flags.root, error ? error.message() : "not a folder"));
        return code(Exit::usage);
    }
    const auto selection = select(flags, {});
    if (!selection) return report_error(flags, selection.error());
    const bool ready = selection->primary() != nullptr;
    say_without_root(flags.root);
    if (flags.json) {
        print(probe::report_json(*selection));
    } else {
        if (flags.explain) print(said_emulated(probe::report_explain(*selection)));
        print(said_emulated(probe::report_text(*selection)));
        for (const std::string &note : selection->notes) print_error("note: " + note);
        const auto closing = coloured(printable(probe::closing_line(*selection), 4096), ready ? Colour::green : Colour::red);
        print(said_emulated(closing + "\n"));
    }
    return code(ready ? Exit::pass : Exit::fail);
}

} // namespace

Command probe_command() {
    auto flags = std::make_shared<Flags>();
    Command command;
    command.name = "probe";
    command.summary = "which plugin serves this host, what it offers, and why others do not";
    command.description =
        "Every plugin is looked at in a process of its own with a time limit (plugins.probe_timeout_s), so that\n"
        "one that crashes or hangs takes nothing down. Answers are kept until the plugin, its driver, the PCI\n"
        "devices or the boot change.";
    command.group = "Look";
    command.exits = {{Exit::pass, "a plugin is ready"},
                     {Exit::fail, "none is, or one that is pinned (plugins.pin) is not"},
                     {Exit::error, "that cannot be said"}};
    command.without_root = without_root_help;
    command.examples = "  hbf probe                      the plugins that serve, their devices and tiers\n"
                       "  hbf probe --explain            every plugin found: how far it came and why\n"
                       "  hbf probe --json               the same and the host inventory, for programs\n"
                       "  HBF_PLUGIN_PATH=/opt/acme/hbf hbf probe --explain\n";
    command.options = {
        {"--explain", &flags->explain, "", "list every plugin found with its stage, reason and detail"},
        {"--json", &flags->json, "", "one JSON document on stdout"},
        {"--no-cache", &flags->no_cache, "", "look again at every plugin, whatever was found earlier"},
        {"--root", &flags->root, "DIR", "look at the machine whose /sys, /proc and /dev lie below DIR (default: /)"},
    };
    command.run = [flags] { return run_probe(*flags); };
    return command;
}

} // namespace hbf::tools
