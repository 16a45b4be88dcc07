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

HBF_CASE("security.privileged_ignores_env",
         {.rules = {"HBF-SEC-3"}, .kills = {"host_privileged_reads_env"}, .limit_s = 60, .host_side = true}) {
    hostile::Scene scene;
    const fs::path trusted = scene.folder("trusted"), elsewhere = scene.folder("elsewhere");
    scene.plugin(trusted, "good");
    scene.plugin(elsewhere, "evil");
    setenv("HBF_PLUGIN_PATH", elsewhere.c_str(), 1);
    const Settings settings = {{"plugins.probe_timeout_s", "30"}};

    Selecting how{{}, settings};
    how.privileged = false;
    const auto control = try_select(how);
    if (!control) fail("the selection failed: " + control.error().message);
    if (!find(*control, "evil")) fail("HBF_PLUGIN_PATH does not count in a process without privilege: nothing was shown");

    how.privileged = true;
    const auto guarded = try_select(how);
    if (!guarded) fail("the selection failed: " + guarded.error().message);
    context.check(!find(*guarded, "evil") && noted(*guarded, "ignored"),
                  "a privileged process found a plugin by HBF_PLUGIN_PATH, or ignored it without a word");

    // Names and trust from the environment, with the folder from where it may come.
    setenv("HBF_PLUGINS", "^good", 1);
    setenv("HBF_ALLOW_UNTRUSTED", "true", 1);
    const fs::path open = scene.folder("open", 0777);
    scene.plugin(open, "exposed");
    const Selection selection = select({{trusted, open}, settings});
    if (must_find(selection, "good").reason != Reason::selected)
        fail("a privileged process let HBF_PLUGINS decide: " + why(must_find(selection, "good")));
    if (must_find(selection, "exposed").reason != Reason::untrusted_path)
        fail("a privileged process let HBF_ALLOW_UNTRUSTED decide: " + why(must_find(selection, "exposed")));
    for (const char *name : {"HBF_PLUGIN_PATH", "HBF_PLUGINS", "HBF_ALLOW_UNTRUSTED"}) unsetenv(name);
}

} // namespace
} // namespace hbf::conformance
