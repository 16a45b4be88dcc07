// SPDX-License-Identifier: Apache-2.0
// Files that others can change are not loaded.
#include <sys/stat.h>
#include <unistd.h>

#include "conformance/suite/select/selecting.hpp"

namespace hbf::conformance {
namespace {

namespace fs = std::filesystem;
constexpr uint32_t other_user = 12345;

HBF_CASE("security.untrusted_dir_refused",
         {.rules = {"HBF-SEC-1"}, .kills = {"host_trust_off", "host_untrusted_unseen"}, .limit_s = 60, .host_side = true}) {
    hostile::Scene scene;
    const fs::path safe = scene.folder("safe"), open = scene.folder("open", 0777), below = scene.folder("open/below"),
                   sticky = scene.folder("sticky", 01777), links = scene.folder("links");
    scene.plugin(safe, "safe");
    scene.plugin(safe, "writable_file");
    chmod((safe / "writable_file.so").c_str(), 0666);
    scene.plugin(safe, "writable_manifest");
    chmod((safe / "writable_manifest.plugin.toml").c_str(), 0666);
    scene.plugin(open, "in_open_folder");
    scene.plugin(below, "below_open_folder");
    scene.plugin(sticky, "in_sticky_folder");
    scene.manifest(links, "link_into_open_folder");
    fs::create_symlink(open / "in_open_folder.so", links / "link_into_open_folder.so");
    std::vector<std::string> exposed = {"writable_file",     "writable_manifest", "in_open_folder",
                                        "below_open_folder", "in_sticky_folder",  "link_into_open_folder"};
    if (geteuid() == 0) { // who can give files away
        scene.plugin(safe, "of_another_user");
        scene.plugin(safe, "writable_by_group");
        if (chown((safe / "of_another_user.so").c_str(), other_user, 0) == 0) exposed.emplace_back("of_another_user");
        if (chown((safe / "writable_by_group.so").c_str(), 0, other_user) == 0 &&
            chmod((safe / "writable_by_group.so").c_str(), 0664) == 0)
            exposed.emplace_back("writable_by_group");
    }
    // And the plugin under test, where anybody could have put it.
    const fs::path anybody = scene.folder("anybody", 0777);
    Settings settings = {{"plugins.probe_timeout_s", "30"}};
    exposed.push_back(stage_subject(context.subject(), scene, anybody, settings));
    const std::vector<fs::path> path = {safe, open, below, sticky, links, anybody};
    const Selection selection = select({path, settings, false, true});
    for (const std::string &name : exposed) {
        const Candidate &candidate = must_find(selection, name);
        context.check(candidate.reason == Reason::untrusted_path && candidate.stage == Stage::trust && !candidate.plugin &&
                          candidate.detail.find('/') != std::string::npos,
                      "{} can be changed by others, and is {}", name, why(candidate));
    }
    const Candidate &control = must_find(selection, "safe");
    if (control.reason != Reason::selected)
        context.inconclusive("a plugin that only its owner can change is " + why(control) + ": nothing was shown");
}

} // namespace
} // namespace hbf::conformance
