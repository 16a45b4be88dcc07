// SPDX-License-Identifier: Apache-2.0
// What a host makes of the plugin: the loader itself is asked, with this folder as the only one it searches.
#include <algorithm>

#include <fmt/format.h>

#include "hbf/config.hpp"
#include "hbf/selection.hpp"
#include "tools/plugin/checks.hpp"
#include "tools/plugin/settings.hpp"

namespace hbf::tools::plugin {
namespace {

constexpr const char *check = "host.serves";
constexpr double slow_ms = 3000; // "within seconds"

// The rule behind a reason, as the table in docs/plugin-rules.md has it.
const char *rule_of(Reason reason) {
    switch (reason) {
    case Reason::untrusted_path:
        return "HBF-SEC-1";
    case Reason::manifest_invalid:
        return "HBF-SEL-1";
    case Reason::not_a_plugin:
        return "HBF-ABI-1";
    case Reason::abi_too_old:
    case Reason::abi_too_new:
        return "HBF-ABI-3";
    case Reason::sanitizer_mismatch:
        return "HBF-ABI-16";
    case Reason::missing_dependency:
        return "HBF-LIFE-2";
    case Reason::driver_absent:
    case Reason::driver_stub:
    case Reason::driver_too_old:
    case Reason::permission_denied:
    case Reason::no_device:
        return "HBF-LIFE-4";
    case Reason::device_busy:
        return "HBF-ABI-12";
    case Reason::probe_failed:
        return "HBF-ABI-10";
    case Reason::probe_crashed:
        return "HBF-LIFE-1";
    case Reason::probe_timeout:
        return "HBF-LIFE-5";
    case Reason::create_failed:
        return "HBF-LIFE-6";
    case Reason::duplicate_name:
        return "HBF-SEL-4";
    default:
        return "";
    }
}

// It answered as it should, and this machine has nothing for it.
bool is_about_the_machine(Reason reason) {
    constexpr Reason all[] = {Reason::driver_absent,     Reason::driver_stub, Reason::driver_too_old,
                              Reason::permission_denied, Reason::no_device,   Reason::device_busy};
    return std::find(std::begin(all), std::end(all), reason) != std::end(all);
}

std::string devices_of(const Candidate &candidate) {
    std::vector<std::string> texts;
    for (const ProbedDevice &device : candidate.devices)
        texts.push_back(fmt::format("{} with {} tier{}{}", device.id, device.tiers.size(),
                                    device.tiers.size() == 1 ? "" : "s", device.emulated ? ", emulated" : ""));
    return fmt::format("{}", fmt::join(texts, "; "));
}

void judge_kind(const Candidate &candidate, Findings &out) {
    const bool all_emulated = std::all_of(candidate.devices.begin(), candidate.devices.end(),
                                          [](const ProbedDevice &device) { return device.emulated; });
    if (candidate.kind != "device") return; // the table's own word is asked later
    if (!all_emulated) return out.pass("manifest.kind", "HBF-SEL-2", "kind = \"device\", and the device says so too");
    out.fail("manifest.kind", "HBF-SEL-2", "kind = \"device\", and every device says that it is emulated",
             "kind = \"emulation\", or HBF_REALITY_REAL if the memory is real");
}

void judge(const Candidate &candidate, Findings &out) {
    const std::string evidence = fmt::format("{}: {}", to_string(candidate.reason), candidate.detail);
    const char *rule = rule_of(candidate.reason);
    if (is_about_the_machine(candidate.reason))
        return out.cannot_tell(check, rule, evidence, "check it on a machine that has its device and driver");
    if (candidate.reason != Reason::selected)
        return out.fail(
            check, rule, evidence,
            fmt::format("HBF_PLUGIN_PATH={} hbf probe --explain shows the same", candidate.manifest.parent_path().string()));
    out.pass(check, "HBF-LIFE-4", fmt::format("probed, each device opened and closed: {}", devices_of(candidate)));
    if (candidate.probe_ms <= slow_ms)
        out.pass("probe.time", "HBF-LIFE-5", fmt::format("{:.0f} ms", candidate.probe_ms));
    else
        out.warn("probe.time", "HBF-LIFE-5",
                 fmt::format("{:.0f} ms, which every start of a host waits for", candidate.probe_ms),
                 "look only; open the device in create");
    judge_kind(candidate, out);
}

void judge_notes(const std::vector<std::string> &notes, const std::string &name, Findings &out) {
    const std::string mine = fmt::format("plugin {}: ", name);
    for (const std::string &note : notes) {
        if (!note.starts_with(mine)) continue;
        const std::string said = note.substr(mine.size());
        if (said.starts_with("printed "))
            out.fail("probe.quiet", "HBF-LIFE-9", said, "write to the host's log");
        else if (!said.starts_with("the manifest says version")) // table.version has it
            out.warn("probe.log", "", said, "it is the plugin's own warning: see what it is about");
    }
}

} // namespace

void check_selection(const PluginFiles &files, const CheckOptions &options, Findings &out) {
    const auto config = settings_for(files);
    if (!config)
        return out.cannot_tell(check, "", config.error().message, "hbf config show --origin shows what is set where");
    SelectOptions select;
    select.use_cache = select.open = false;
    select.cancelled = options.stop;
    const auto selection = select_plugins(*config, select);
    if (!selection) return out.cannot_tell(check, "", selection.error().message, "run this again");
    for (const Candidate &candidate : selection->candidates) {
        std::error_code error;
        if (!std::filesystem::equivalent(candidate.manifest, files.manifest, error)) continue;
        judge(candidate, out);
        return judge_notes(selection->notes, candidate.name, out);
    }
    out.cannot_tell(check, "", fmt::format("the loader does not see {}", files.manifest.string()), "run this again");
}

} // namespace hbf::tools::plugin
