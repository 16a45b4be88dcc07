// SPDX-License-Identifier: Apache-2.0
#include "tools/plugin/candidate.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace hbf::tools::plugin {
namespace {

namespace fs = std::filesystem;

constexpr size_t most_found = 256; // as the loader

// Files of a folder whose name ends so, sorted. A folder that cannot be listed has none.
std::vector<fs::path> ending_with(std::string_view suffix, const fs::path &folder) {
    std::vector<fs::path> found;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end && found.size() < most_found;
         at.increment(error)) {
        const std::string name = at->path().filename().string();
        if (name.ends_with(suffix) && name.size() > suffix.size()) found.push_back(at->path());
    }
    std::sort(found.begin(), found.end());
    return found;
}

constexpr std::string_view manifest_suffix = ".plugin.toml", library_suffix = ".so";

PluginFiles of_manifest(const fs::path &manifest) {
    PluginFiles files;
    files.manifest = manifest;
    auto content = loader::read_manifest(manifest);
    if (content) {
        files.plugin_file = manifest.parent_path() / content->plugin_file;
        files.content = std::move(*content);
        return files;
    }
    files.problem = content.error().message;
    // A broken one may not say which library is its own: then the one of its name, if it is there.
    const std::string name = manifest.filename().string();
    const std::string stem = name.substr(0, name.size() - manifest_suffix.size());
    std::error_code error;
    for (const std::string &library : {"hbf_plugin_" + stem + ".so", stem + ".so"})
        if (files.plugin_file.empty() && fs::is_regular_file(manifest.parent_path() / library, error))
            files.plugin_file = manifest.parent_path() / library;
    return files;
}

bool same_file(const fs::path &one, const fs::path &other) {
    std::error_code error;
    return fs::equivalent(one, other, error) && !error;
}

// Manifests beside the library, or one folder above it, as a manifest may name a library below itself.
PluginFiles of_library(const fs::path &library) {
    std::vector<fs::path> manifests = ending_with(manifest_suffix, library.parent_path());
    for (fs::path &above : ending_with(manifest_suffix, library.parent_path().parent_path())) manifests.push_back(above);
    std::optional<PluginFiles> broken;
    for (const fs::path &manifest : manifests) {
        PluginFiles files = of_manifest(manifest);
        if (files.plugin_file.empty() || !same_file(files.plugin_file, library)) continue;
        files.plugin_file = library;
        if (files.content) return files;
        if (!broken) broken = std::move(files);
    }
    if (broken) return *broken;
    PluginFiles files;
    files.plugin_file = library;
    return files;
}

std::vector<PluginFiles> of_folder(const fs::path &folder) {
    std::vector<PluginFiles> all;
    for (const fs::path &manifest : ending_with(manifest_suffix, folder)) all.push_back(of_manifest(manifest));
    for (const fs::path &library : ending_with(library_suffix, folder)) {
        const auto known = [&](const PluginFiles &files) {
            return !files.plugin_file.empty() && same_file(files.plugin_file, library);
        };
        if (std::any_of(all.begin(), all.end(), known)) continue;
        all.push_back(of_library(library));
    }
    return all;
}

} // namespace

tl::expected<std::vector<PluginFiles>, std::string> plugins_of(const fs::path &path) {
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    if (error) return tl::unexpected(fmt::format("{}: {}", path.string(), error.message()));
    if (fs::is_directory(real, error)) {
        auto all = of_folder(real);
        if (all.empty())
            return tl::unexpected(
                fmt::format("{}: no plugin in this folder: neither a NAME.plugin.toml nor a .so", real.string()));
        return all;
    }
    if (!fs::is_regular_file(real, error))
        return tl::unexpected(fmt::format("{}: not a file and not a folder", path.string()));
    // By the name that was given: a link's own name is what a host finds.
    const fs::path given = fs::absolute(path).lexically_normal();
    if (given.filename().string().ends_with(manifest_suffix)) return std::vector{of_manifest(given)};
    return std::vector{of_library(given)};
}

} // namespace hbf::tools::plugin
