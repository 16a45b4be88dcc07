// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/select/selecting.hpp"

#include <stdexcept>

namespace hbf::conformance {

Result<Selection> try_select(const Selecting &how) {
    std::string joined;
    for (const auto &folder : how.path) joined += (joined.empty() ? "" : ",") + folder.string();
    ConfigSources sources;
    sources.root = "/nonexistent-root-of-a-case";
    sources.privileged = how.privileged;
    sources.api = how.settings;
    if (!joined.empty()) sources.api["plugins.path"] = joined;
    const auto config = Config::load(sources);
    if (!config) return tl::unexpected(config.error());
    SelectOptions options;
    options.use_cache = how.use_cache;
    options.open = how.open;
    return select_plugins(*config, options);
}

Selection select(const Selecting &how) {
    auto selection = try_select(how);
    if (!selection) throw std::runtime_error("the selection failed: " + selection.error().message);
    return std::move(*selection);
}

const Candidate *find(const Selection &selection, std::string_view name) {
    for (const Candidate &candidate : selection.candidates)
        if (candidate.name == name) return &candidate;
    return nullptr;
}

const Candidate &must_find(const Selection &selection, std::string_view name) {
    const Candidate *const found = find(selection, name);
    if (!found) fail(fmt::format("the plugin {} lies in a search folder and is not among the candidates", name));
    return *found;
}

std::string why(const Candidate &candidate) {
    return fmt::format("{} in {}: {}", to_string(candidate.reason), to_string(candidate.stage), candidate.detail);
}

std::string stage_subject(Subject &subject, hostile::Scene &scene, const std::filesystem::path &folder, Settings &settings) {
    const std::string name = subject.plugin().name;
    hostile::write_bytes(folder / (name + ".so"), hostile::read_bytes(subject.options().plugin_file));
    scene.manifest(folder, name);
    for (const auto &[key, value] : subject.options().options) settings["plugin." + name + "." + key] = value;
    return name;
}

} // namespace hbf::conformance
