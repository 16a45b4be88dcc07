// SPDX-License-Identifier: Apache-2.0
// Which plugins a path names: a library, a manifest, or a folder of them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "core/loader/manifest.hpp"

namespace hbf::tools::plugin {

// A library and the manifest that names it; one of the two may be missing.
struct PluginFiles {
    std::filesystem::path plugin_file, manifest; // absolute; "": there is none
    std::optional<loader::Manifest> content;     // of the manifest, if it can be read
    std::string problem;                         // why it cannot
};

// Sorted by path. The error says why `path` names no plugin.
tl::expected<std::vector<PluginFiles>, std::string> plugins_of(const std::filesystem::path &path);

} // namespace hbf::tools::plugin
