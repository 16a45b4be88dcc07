// SPDX-License-Identifier: Apache-2.0
// hbf plugin: a new plugin's project, and a plugin's file held against the rules.
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "core/output/json.hpp"
#include "core/output/stream.hpp"
#include "tools/commands.hpp"
#include "tools/emulated.hpp"
#include "tools/plugin/checks.hpp"
#include "tools/plugin/name.hpp"
#include "tools/plugin/project.hpp"
#include "tools/plugin/report.hpp"
#include "tools/signals.hpp"

namespace hbf::tools {
namespace {

struct NewOptions {
    std::string name, folder, vendor = "Example", kind = "device";
    bool json = false;
};

int refuse(const char *command, Exit exit, const std::string &why) {
    print_error(fmt::format("hbf plugin {}: {}", command, why));
    return static_cast<int>(exit);
}

// A meson string.
std::string quoted(const std::string &text) {
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? std::string("\\'") : std::string(1, c);
    return out + "'";
}

int make_project(const NewOptions &o) {
    if (const auto why = plugin::name_objection(o.name); !why.empty()) return refuse("new", Exit::usage, why);
    if (const auto why = plugin::vendor_objection(o.vendor); !why.empty()) return refuse("new", Exit::usage, why);
    const auto source = plugin::template_folder();
    if (!source) return refuse("new", Exit::error, source.error());
    const auto files = plugin::read_template(
        *source, {{"NAME", o.name}, {"VENDOR", o.vendor}, {"VENDOR_QUOTED", quoted(o.vendor)}, {"KIND", o.kind}});
    if (!files) return refuse("new", Exit::error, files.error());
    std::filesystem::path folder = std::filesystem::absolute(o.folder.empty() ? o.name : o.folder).lexically_normal();
    if (!folder.has_filename()) folder = folder.parent_path(); // "acme/"
    const auto written = plugin::write_project(folder, *files, [] { return interrupted() != 0; });
    if (interrupted()) return interrupted_exit_code();
    if (!written) return refuse("new", Exit::error, written.error());
    if (o.json) {
        print(Json::object({{"schema_version", 1}, {"folder", folder.string()}, {"files", files->size()}}).dump());
        return static_cast<int>(Exit::pass);
    }
    print(fmt::format(
        "{}: {} files. Next:\n\n    cd {}\n    meson setup build\n    meson test -C build\n\nREADME.md says what is "
        "where.\n",
        folder.string(), files->size(), o.folder.empty() ? o.name : o.folder));
    return static_cast<int>(Exit::pass);
}

int check(const std::string &path, bool json) {
    const auto found = plugin::plugins_of(path);
    if (!found) return refuse("check", Exit::usage, found.error());
    std::vector<plugin::CheckedPlugin> checked;
    for (const plugin::PluginFiles &files : *found) {
        show_progress(files.plugin_file.string());
        checked.push_back({files, plugin::check_plugin(files, {[] { return interrupted() != 0; }})});
        if (interrupted()) break;
    }
    clear_progress();
    if (interrupted()) return interrupted_exit_code();
    print(json ? plugin::check_json(checked) : said_emulated(plugin::check_text(checked)));
    const plugin::Verdict verdict = plugin::verdict_of(checked);
    return static_cast<int>(verdict == plugin::Verdict::pass   ? Exit::pass
                            : verdict == plugin::Verdict::fail ? Exit::fail
                                                               : Exit::error);
}

Command new_command() {
    auto o = std::make_shared<NewOptions>();
    Command command;
    command.name = "new";
    command.summary = "make the project of a new plugin: one memory tier and a queue that pass the conformance suite";
    command.description =
        "It builds with meson against an installed HBF and needs nothing of HBF's sources. A folder that is there "
        "already is left alone.";
    command.examples = "  hbf plugin new acme                              in ./acme\n"
                       "  hbf plugin new acme --vendor 'Acme Inc.' --dir ~/src/hbf-acme\n";
    command.options = {
        {"NAME", &o->name, "NAME", "its name: a-z, 0-9, '_' and '-', a letter first", true},
        {"--dir", &o->folder, "DIR", "the folder to make (default: NAME, here)"},
        {"--vendor", &o->vendor, "VENDOR", "who makes it, for people (default \"Example\")"},
        {"--kind", Choice{&o->kind, {"device", "emulation"}}, "device|emulation",
         "emulation: whatever is not the hardware that it speaks for (default device)"},
        {"--json", &o->json, "", "one JSON document on stdout: the folder and how many files it has"},
    };
    command.run = [o] { return make_project(*o); };
    return command;
}

Command check_command() {
    struct Flags {
        std::string path;
        bool json = false;
    };
    auto flags = std::make_shared<Flags>();
    Command command;
    command.name = "check";
    command.summary = "hold a plugin's files against the rules: exports, libraries, manifest, what loading and probing do";
    command.description = "Its code runs in processes of their own only, and only if nobody else could have changed its "
                          "files. Each line names the rule of docs/plugin-rules.md, the evidence and the remedy.";
    command.exits = {{Exit::pass, "nothing failed"},
                     {Exit::fail, "something failed"},
                     {Exit::error, "something could not be told, such as on a machine without the plugin's device"}};
    command.examples = "  hbf plugin check build/hbf_plugin_acme.so\n"
                       "  hbf plugin check /usr/lib/x86_64-linux-gnu/hbf/plugins    every plugin of a folder\n"
                       "  hbf plugin check acme.plugin.toml --json\n";
    command.options = {
        {"PATH", &flags->path, "FILE", "a plugin's library, a manifest, or a folder of plugins", true},
        {"--json", &flags->json, "", "one JSON document on stdout"},
    };
    command.run = [flags] { return check(flags->path, flags->json); };
    return command;
}

} // namespace

Command plugin_command() {
    Command command;
    command.name = "plugin";
    command.summary = "make a new plugin's project; hold a plugin's file against the rules";
    command.description = "docs/plugin-author-guide.md leads from nothing to a conformant plugin.";
    command.examples = "  hbf plugin new acme                  a project that builds and passes\n"
                       "  hbf plugin check build/              everything that can be told without the suite\n";
    command.group = "Set up";
    command.children = {new_command(), check_command()};
    return command;
}

} // namespace hbf::tools
