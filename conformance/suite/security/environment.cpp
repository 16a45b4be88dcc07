// SPDX-License-Identifier: Apache-2.0
// Who starts a set-uid program must not steer what it loads. Privilege is declared here; that the kernel's own is seen is a
// test of libhbf, which needs root.
#include <cstdlib>

#include "conformance/suite/select/selecting.hpp"

namespace hbf::conformance {
namespace {

namespace fs = std::filesystem;

bool noted(const Selection &selection, std::string_view words) {
    for (const std::string &note : selection.notes)
        if (note.find(words) != std::string::npos) return true;
    return false;
}

HBF_CASE("security.privileged_ignores_env", {.rules = {"HBF-SEC-3"},
                                             .kills = {"host_privileged_reads_env", "host_ignores_silently"},
                                             .limit_s = 60,
                                             .host_side = true}) {
    hostile::Scene scene;
    const fs::path trusted = scene.folder("trusted"), elsewhere = scene.folder("elsewhere");
    scene.plugin(trusted, "good");
    scene.plugin(elsewhere, "evil");
    setenv("HBF_PLUGIN_PATH", elsewhere.c_str(), 1);
    const Settings settings = {{"plugins.probe_timeout_s", "30"}};

    Selecting how{{}, settings};
    how.privileged = false;
    if (!find(select(how), "evil"))
        context.inconclusive("HBF_PLUGIN_PATH does not count in a process without privilege: nothing was shown");

    how.privileged = true;
    const Selection by_path = select(how);
    // By name and by trust, with the folder from where it may come.
    setenv("HBF_PLUGINS", "^good", 1);
    setenv("HBF_ALLOW_UNTRUSTED", "true", 1);
    const fs::path open = scene.folder("open", 0777);
    scene.plugin(open, "exposed");
    const Selection by_name = select({{trusted, open}, settings});
    const struct {
        const char *variable;
        const Selection &selection;
        const char *plugin;
        std::string_view due;
    } ways[] = {{"HBF_PLUGIN_PATH", by_path, "evil", "not seen"},
                {"HBF_PLUGINS", by_name, "good", "selected"},
                {"HBF_ALLOW_UNTRUSTED", by_name, "exposed", "untrusted_path"}};
    for (const auto &[variable, selection, plugin, due] : ways) {
        const Candidate *const found = find(selection, plugin);
        const std::string_view is = found ? to_string(found->reason) : "not seen";
        context.check(is == due && noted(by_path, "ignored"),
                      "in a privileged process {} decides, or is ignored without a word: {} is {} where {} is due", variable,
                      plugin, is, due);
    }
    for (const char *name : {"HBF_PLUGIN_PATH", "HBF_PLUGINS", "HBF_ALLOW_UNTRUSTED"}) unsetenv(name);
}

} // namespace
} // namespace hbf::conformance
