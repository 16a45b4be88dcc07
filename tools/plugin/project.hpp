// SPDX-License-Identifier: Apache-2.0
// A new project on disk: there in full, or not at all.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "tools/plugin/template.hpp"

namespace hbf::tools::plugin {

// Makes `folder`, which must not exist yet, while the one above it does. The files are written into a hidden folder beside
// it, which is renamed once all of them are on the disk; on an error (full disk, no permission, `stop`) nothing is left.
tl::expected<void, std::string> write_project(const std::filesystem::path &folder, const std::vector<TemplateFile> &files,
                                              const std::function<bool()> &stop);

} // namespace hbf::tools::plugin
