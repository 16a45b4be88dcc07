// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/target.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "conformance/runner/programs.hpp"
#include "core/common/printable.hpp"
#include "core/common/suggest.hpp"
#include "hbf/selection.hpp"

namespace hbf::conformance {
namespace {

namespace fs = std::filesystem;

auto refuse(TargetError::Kind kind, std::string message) {
    return tl::unexpected(TargetError{kind, std::move(message)});
}

TargetError::Kind kind_of(Code code) {
    return code == Code::invalid ? TargetError::usage : TargetError::other;
}

// Whether such a plugin would serve is not known.
bool gave_no_answer(Reason reason) {
    return reason == Reason::probe_failed || reason == Reason::probe_crashed || reason == Reason::probe_timeout;
}

} // namespace

tl::expected<Target, TargetError> target_of_file(const std::string &path, const std::string &device) {
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    if (error) return refuse(TargetError::usage, fmt::format("--plugin {}: {}", path, error.message()));
    if (!fs::is_regular_file(real, error)) return refuse(TargetError::usage, fmt::format("--plugin {}: not a file", path));
    return Target{real.string(), device, {}};
}

tl::expected<Target, TargetError> target_of_name(const std::string &name, const std::function<bool()> &cancelled) {
    const auto config = Config::load();
    if (!config) return refuse(TargetError::usage, config.error().message);
    SelectOptions options;
    options.open = false;
    options.cancelled = cancelled;
    const auto selection = select_plugins(*config, options);
    if (!selection) return refuse(kind_of(selection.error().code), selection.error().message);
    std::vector<std::string> known = {"sim"};
    std::vector<Target> found;
    const Candidate *refused = nullptr;
    for (const Candidate &candidate : selection->candidates) {
        known.push_back(candidate.name);
        // Whoever names the CPUs behind a device runtime means them; that they do not serve beside the host is for the
        // others.
        const bool means_cpus =
            candidate.reason == Reason::outranked && !candidate.devices.empty() && candidate.devices.front().on_cpu;
        if (candidate.reason != Reason::selected && candidate.name == name) refused = &candidate;
        if (candidate.reason != Reason::selected && !means_cpus) continue;
        const auto plugin_options = config->plugin_options(candidate.name);
        for (const ProbedDevice &device : candidate.devices) {
            known.push_back(device.id);
            if (name == device.id || name == candidate.name + ":" + device.id)
                found.push_back({candidate.plugin_file.string(), device.id, plugin_options});
        }
        if (name == candidate.name && !candidate.devices.empty())
            found.insert(found.begin(), {candidate.plugin_file.string(), candidate.devices.front().id, plugin_options});
    }
    if (found.empty() && name == "sim") {
        const auto library = simulated_device();
        if (!library) return refuse(TargetError::other, library.error());
        return Target{library->string(), "", config->plugin_options("sim")};
    }
    if (found.empty() && refused)
        return refuse(TargetError::untested, fmt::format("plugin {} does not serve this host: {}: {}", name,
                                                         to_string(refused->reason), refused->detail));
    if (found.empty())
        return refuse(TargetError::usage,
                      fmt::format("no device is called '{}'{}; 'hbf probe' lists them", name, did_you_mean(name, known)));
    return found.front();
}

tl::expected<Target, TargetError> target_of_host(const std::function<bool()> &cancelled, std::string &said) {
    const auto config = Config::load();
    if (!config) return refuse(TargetError::usage, config.error().message);
    SelectOptions options;
    options.open = false;
    options.cancelled = cancelled;
    const auto selection = select_plugins(*config, options);
    if (!selection) return refuse(kind_of(selection.error().code), selection.error().message);
    const Candidate *const first = selection->primary();
    std::string silent;
    for (const Candidate &candidate : selection->candidates)
        if (gave_no_answer(candidate.reason))
            silent += fmt::format("; {} gave no answer ({})", candidate.name, to_string(candidate.reason));
    if (!first || first->devices.empty())
        return refuse(silent.empty() ? TargetError::untested : TargetError::other,
                      "no plugin offers a device on this host; 'hbf probe --explain' says why" + silent);
    const ProbedDevice &device = first->devices.front();
    said = printable(fmt::format("none was named, so {} of plugin {} is tested, which ranks first on this host{}", device.id,
                                 first->name, silent));
    return Target{first->plugin_file.string(), device.id, config->plugin_options(first->name)};
}

namespace {

tl::expected<Target, TargetError> peer_of(const Target &target, const std::string &name,
                                          const std::function<bool()> &cancelled) {
    if (name.find('/') != std::string::npos) return target_of_file(name, "");
    if (!name.empty()) return target_of_name(name, cancelled);
    std::error_code error;
    const auto host = host_plugin();
    const bool is_host = host && fs::equivalent(*host, target.plugin_file, error);
    const auto library = is_host ? simulated_device() : host;
    return Target{library ? library->string() : "", "", {}};
}

} // namespace

tl::expected<void, TargetError> add_peer(Target &target, const std::string &name, const std::function<bool()> &cancelled) {
    target.peer_asked = name;
    if (name == "none") return {};
    auto peer = peer_of(target, name, cancelled);
    if (!peer) return refuse(peer.error().kind, "--peer: " + peer.error().message);
    target.peer = {peer->plugin_file, peer->device_id, std::move(peer->options)};
    return {};
}

} // namespace hbf::conformance
