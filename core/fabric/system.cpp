// SPDX-License-Identifier: Apache-2.0
#include "hbf/system.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/fabric/abi_error.hpp"
#include "core/fabric/system_open.hpp"

namespace hbf {
namespace fabric {
namespace {

bool is_selected(const Candidate &candidate) {
    return candidate.reason == Reason::selected && candidate.plugin != nullptr;
}

// A plugin that has nothing to do on this host, or that nobody wants here: not one that should work and does not.
bool is_none_of_ours(const Candidate &candidate) {
    return candidate.reason == Reason::no_device || candidate.reason == Reason::driver_absent ||
           candidate.reason == Reason::denied_by_config || candidate.reason == Reason::not_in_allow_list;
}

// Opens the candidate's devices that serve; what failed is put in words.
std::vector<std::string> open_candidate(const Candidate &candidate, const Selection &selection, const Config &config,
                                        const std::filesystem::path &root, bool litmus, std::vector<Device> &devices) {
    std::vector<std::string> failures;
    DeviceOptions options;
    options.options = config.plugin_options(candidate.name);
    options.system_root = root.string();
    options.litmus = litmus;
    options.plugin_sha256 = candidate.sha256;
    options.boot_id = selection.inventory.boot_id;
    // Probed by the loader; a plugin that was not is asked for its first device.
    std::vector<std::optional<ProbedDevice>> wanted(candidate.devices.begin(), candidate.devices.end());
    if (wanted.empty()) wanted.emplace_back();
    for (const auto &one : wanted) {
        if (one && one->reason != Reason::selected) continue;
        options.probed = one;
        options.device_id = one ? one->id : "";
        auto device = Device::open(candidate.plugin, options);
        if (device)
            devices.push_back(std::move(*device));
        else
            failures.push_back(device.error().message);
    }
    return failures;
}

std::string join(const std::vector<std::string> &parts) {
    std::string text;
    for (const std::string &part : parts) text += (text.empty() ? "" : "; ") + part;
    return text;
}

} // namespace

Result<std::vector<Device>> open_devices(Selection &selection, const Config &config, const std::filesystem::path &root,
                                         bool litmus) {
    std::vector<Device> devices;
    const Candidate *first =
        selection.candidates.empty() || !is_selected(selection.candidates.front()) ? nullptr : &selection.candidates.front();
    const std::string wanted_primary = first ? first->name : "";
    for (Candidate &candidate : selection.candidates) {
        if (!is_selected(candidate)) continue;
        const size_t before = devices.size();
        const auto failures = open_candidate(candidate, selection, config, root, litmus, devices);
        candidate.stage = Stage::open;
        if (devices.size() == before) {
            candidate.reason = Reason::create_failed;
            candidate.detail = join(failures);
        } else {
            for (const std::string &failure : failures)
                selection.notes.push_back(
                    fmt::format("plugin {}: one of its devices did not open: {}", candidate.name, failure));
        }
    }
    // Selected ones stay first, so that primary() is a plugin that did open.
    std::stable_partition(selection.candidates.begin(), selection.candidates.end(), is_selected);
    if (!wanted_primary.empty()) {
        const auto failed =
            std::find_if(selection.candidates.begin(), selection.candidates.end(), [&](const Candidate &one) {
                return one.name == wanted_primary && one.reason == Reason::create_failed;
            });
        if (failed != selection.candidates.end())
            selection.notes.push_back(fmt::format(
                "the primary plugin {} did not open ({}); {}", wanted_primary, failed->detail,
                devices.empty() ? "no other took its place" : "primary is now " + selection.candidates.front().name));
    }
    if (!devices.empty()) return devices;
    std::string reasons;
    const bool nothing_here = std::all_of(selection.candidates.begin(), selection.candidates.end(), is_none_of_ours);
    for (const Candidate &candidate : selection.candidates)
        reasons += fmt::format("\n  {}: {}: {}", candidate.name.empty() ? candidate.manifest.string() : candidate.name,
                               to_string(candidate.reason), candidate.detail);
    if (reasons.empty()) return fail(Code::unsupported, "no plugin was found: set plugins.path, or HBF_PLUGIN_PATH");
    return nothing_here ? fail(Code::unsupported, "this host has no device for the plugins that may be used:" + reasons)
                        : fail(Code::unavailable, "no device could be opened:" + reasons);
}

} // namespace fabric

Result<System> System::open(const SystemOptions &options) {
    return guarded([&]() -> Result<System> {
        System system;
        auto config = Config::load(options.config);
        if (!config) return tl::unexpected(config.error());
        system.config_ = std::move(*config);
        SelectOptions select = options.select;
        select.open = true;
        auto selection = select_plugins(system.config_, select);
        if (!selection) return tl::unexpected(selection.error());
        system.selection_ = std::move(*selection);
        auto devices = fabric::open_devices(system.selection_, system.config_, select.root, options.litmus);
        if (!devices) return tl::unexpected(devices.error());
        system.devices_ = std::move(*devices);
        return system;
    });
}

} // namespace hbf
