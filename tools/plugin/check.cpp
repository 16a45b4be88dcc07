// SPDX-License-Identifier: Apache-2.0
// The order of the checks: what is read first, and what is run only if nothing speaks against it.
#include <filesystem>

#include <fmt/format.h>

#include "tools/plugin/checks.hpp"
#include "tools/plugin/settings.hpp"

namespace hbf::tools::plugin {
namespace {

void not_run(const std::string &why, Findings &out) {
    out.cannot_tell("host.serves", "", "none of its code was run: " + why, "mend that, then check again");
}

} // namespace

Findings check_plugin(const PluginFiles &files, const CheckOptions &options) {
    Findings out;
    check_manifest(files, out);
    if (files.plugin_file.empty()) {
        not_run("which library the manifest names is not known", out);
        return out;
    }
    std::error_code error;
    if (!std::filesystem::exists(files.plugin_file, error)) {
        out.fail("file.elf", "HBF-SEL-1",
                 fmt::format("the manifest names {}, which is not there", files.plugin_file.string()),
                 "correct \"library\" in the manifest, or install the file");
        not_run("there is no library", out);
        return out;
    }
    const FileVerdict file = check_file(files.plugin_file, out);
    const auto config = settings_for(files);
    if (!config) {
        out.cannot_tell("host.serves", "", config.error().message, "hbf config show --origin shows what is set where");
        return out;
    }
    const bool allowed = config->get("plugins.allow_untrusted").value == "true";
    const bool trusted = check_trust(files, allowed, out);
    if (!file.readable || !file.is_plugin) return not_run("it is no plugin that can be loaded", out), out;
    if (!file.loadable) return not_run("this host does not load what is built so", out), out;
    if (!trusted) return not_run("others could have put it there", out), out;
    if (!check_load(files.plugin_file, probe_limit(*config), options, out)) {
        not_run("loading alone went wrong", out);
        return out;
    }
    if (files.content) check_selection(files, options, out);
    if (options.stop && options.stop()) return out;
    // Who crashed or hung there would do so again.
    const auto &all = out.all();
    const bool ended_badly = !all.empty() && all.back().check == "host.serves" && all.back().verdict == Verdict::fail;
    if (!ended_badly) check_table(files, options, out);
    return out;
}

} // namespace hbf::tools::plugin
