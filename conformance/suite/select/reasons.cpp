// SPDX-License-Identifier: Apache-2.0
// Each plugin that the host saw gets one reason of the closed list, and a sentence.
#include <vector>

#include "conformance/suite/select/selecting.hpp"

namespace hbf::conformance {
namespace {

namespace fs = std::filesystem;
using hostile::Scene;

struct Member {
    const char *name, *reason, *extra = "";
};

// The stand-in misbehaves as its name says; those that come from a manifest or a file are made below.
constexpr Member members[] = {
    {"good", "selected", "priority = 100\n"},
    {"denied", "denied_by_config"},
    {"manifest_wrong", "manifest_invalid", "priority = \"high\"\n"},
    {"other_arch", "wrong_arch", "arch = [\"riscv64\"]\n"},
    {"query_null", "not_a_plugin"},
    {"query_older", "abi_too_old"},
    {"query_newer", "abi_too_new"},
    {"query_sanitizer", "sanitizer_mismatch"},
    {"needs_node", "driver_absent", "[needs]\nnodes = [\"/dev/hbf-no-such-node\"]\n"},
    {"needs_device", "no_device", "[needs]\npci = [\"fffe:*\"]\n"},
    {"answer_absent", "driver_absent"},
    {"answer_stub", "driver_stub"},
    {"answer_too_old", "driver_too_old"},
    {"answer_denied", "permission_denied"},
    {"answer_no_device", "no_device"},
    {"answer_nothing", "no_device"},
    {"answer_busy", "device_busy"},
    {"answer_internal", "probe_failed"},
    {"probe_exit0", "probe_failed"},
    {"probe_segv", "probe_crashed"},
    {"create_error", "create_failed"},
    {"create_nothing", "create_failed"},
};

std::map<std::string, std::string> stage(Scene &scene, const fs::path &folder) {
    std::map<std::string, std::string> due;
    for (const Member &one : members) {
        scene.plugin(folder, one.name, "chameleon.so", one.extra);
        due[one.name] = one.reason;
    }
    hostile::write_bytes(folder / "a_text_file.so", "#!/bin/sh\necho not a library\n");
    scene.manifest(folder, "a_text_file");
    due["a_text_file"] = "not_a_plugin";
    hostile::write_bytes(folder / "an_empty_file.so", "");
    scene.manifest(folder, "an_empty_file");
    due["an_empty_file"] = "not_a_plugin";
    scene.manifest(folder, "no_library");
    due["no_library"] = "manifest_invalid";
    hostile::write_bytes(folder / "no_manifest.so", hostile::read_bytes(hostile::built() / "chameleon.so"));
    due["no_manifest"] = "manifest_invalid";
    scene.plugin(folder, "missing_dependency", "missing_dependency.so");
    due["missing_dependency"] = "missing_dependency";
    scene.plugin(scene.folder("open", 0777), "in_open_folder");
    due["in_open_folder"] = "untrusted_path";
    return due;
}

// `due`: of all candidates of a name, in their order.
void check_reasons(Context &context, const Selection &selection, const std::map<std::string, std::string> &due) {
    for (const auto &[name, reason] : due) {
        std::vector<std::string> found;
        std::string is;
        for (const Candidate &candidate : selection.candidates) {
            if (candidate.name != name) continue;
            found.push_back(why(candidate));
            is += fmt::format("{}{}", is.empty() ? "" : ", ", to_string(candidate.reason));
            context.check(!candidate.detail.empty(), "{} is {} without a sentence", name, to_string(candidate.reason));
        }
        context.check(is == reason, "{} must be {}, and is {}", name, reason,
                      found.empty() ? "not seen at all" : fmt::format("{}", fmt::join(found, "; ")));
    }
}

HBF_CASE("select.reason_for_every_candidate",
         {.rules = {"HBF-SEL-3"}, .kills = {"host_reason_lost", "host_reason_unsaid"}, .limit_s = 60, .host_side = true}) {
    Scene scene;
    const fs::path folder = scene.folder("plugins");
    auto due = stage(scene, folder);
    Settings settings = {{"plugins.deny", "denied"}, {"plugins.probe_timeout_s", "30"}};
    const std::string under_test = stage_subject(context.subject(), scene, folder, settings);
    const Selection selection = select({{folder, scene.top() / "open"}, settings});

    check_reasons(context, selection, due);
    context.note(fmt::format("the plugin under test was {}", why(must_find(selection, under_test))));

    // By itself: its reason is that time is up, and time has to pass for it.
    const fs::path slow = scene.folder("slow");
    scene.plugin(slow, "probe_hang");
    check_reasons(context, select({{slow}, {{"plugins.probe_timeout_s", "0.3"}}}), {{"probe_hang", "probe_timeout"}});
}

HBF_CASE("select.reason_for_every_candidate.by_policy",
         {.rules = {"HBF-SEL-3", "HBF-SEL-4"},
          .kills = {"host_policy_ignored", "host_pin_ignored", "host_allow_order_ignored"},
          .limit_s = 60,
          .host_side = true}) {
    Scene scene;
    const fs::path folder = scene.folder("plugins"), second = scene.folder("second");
    for (const char *name : {"alpha", "beta", "gamma"}) scene.plugin(folder, name);
    scene.plugin(second, "alpha", "chameleon.so", "priority = 1\n");
    const Selection allowed = select({{folder}, {{"plugins.allow", "gamma,alpha"}}});
    check_reasons(context, allowed, {{"alpha", "selected"}, {"beta", "not_in_allow_list"}, {"gamma", "selected"}});
    context.check(allowed.primary() && allowed.primary()->name == "gamma", "gamma is allowed first, and another one serves");
    check_reasons(context, select({{folder, second}, {}}), {{"alpha", "selected, duplicate_name"}});
    const struct {
        Settings settings;
        const char *word; // of the error
    } refused[] = {{{{"plugins.pin", "beta"}, {"plugins.deny", "beta"}}, "denied_by_config"},
                   {{{"plugins.pin", "alpa"}}, "alpa"}}; // nobody's name
    for (const auto &[settings, word] : refused) {
        const auto selection = try_select({{folder}, settings});
        context.check(!selection && selection.error().message.find(word) != std::string::npos,
                      "{} is pinned, and that is no error that says {}", settings.at("plugins.pin"), word);
    }
}

} // namespace
} // namespace hbf::conformance
