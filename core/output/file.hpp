// SPDX-License-Identifier: Apache-2.0
// A result file that is there in full or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace hbf {

// Says before a long run whether `path` could be written. The error names path, reason and remedy.
tl::expected<void, std::string> check_writable(const std::filesystem::path &path);

// Writes beside it, flushes to the disk, then renames: on any error (disk full, quota) an earlier file is untouched and no
// part is left. A path that is no regular file (/dev/stdout, a pipe) is written to directly.
tl::expected<void, std::string> write_file(const std::filesystem::path &path, std::string_view content);

} // namespace hbf
