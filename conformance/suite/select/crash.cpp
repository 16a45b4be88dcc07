// SPDX-License-Identifier: Apache-2.0
// A plugin that crashes takes itself out, and nobody else.
#include "conformance/suite/select/selecting.hpp"

namespace hbf::conformance {
namespace {

namespace fs = std::filesystem;

HBF_CASE("select.crashing_plugin_does_not_hide_others",
         {.rules = {"HBF-SEL-5", "HBF-LIFE-1"},
          .kills = {"host_probes_in_process", "host_crash_ends_search", "host_crash_untold"},
          .limit_s = 60,
          .host_side = true}) {
    hostile::Scene scene;
    const fs::path folder = scene.folder("plugins");
    // Each of them would rank first, and come first by name.
    std::map<std::string, Reason> due = {
        {"constructor_ill", Reason::probe_crashed},  {"constructor_segv", Reason::probe_crashed},
        {"constructor_exit0", Reason::probe_failed}, {"query_abort", Reason::probe_crashed},
        {"probe_throw", Reason::probe_crashed},      {"probe_flood", Reason::probe_failed},
        {"create_segv", Reason::create_failed},      {"destroy_segv", Reason::create_failed}};
    for (const auto &[name, reason] : due) scene.plugin(folder, name, "chameleon.so", "priority = 1000\n");
    scene.plugin(folder, "zz_good");
    Settings settings = {{"plugins.probe_timeout_s", "30"}};
    const std::string under_test = stage_subject(context.subject(), scene, folder, settings);
    const Selection selection = select({{folder}, settings, false, true});
    due["zz_good"] = Reason::selected;
    for (const auto &[name, reason] : due) {
        const Candidate &found = must_find(selection, name);
        context.check(found.reason == reason && (found.plugin != nullptr) == (reason == Reason::selected),
                      "{} must be {}, opened only if selected, and is {}", name, to_string(reason), why(found));
    }
    context.note(fmt::format("the plugin under test was {}", why(must_find(selection, under_test))));
}

} // namespace
} // namespace hbf::conformance
