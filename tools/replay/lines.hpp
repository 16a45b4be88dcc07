// SPDX-License-Identifier: Apache-2.0
// The lines of a file, which may be packed with zstd or gzip. libarchive stays behind this header.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace hbf::replay {

// Calls `take(line, number from 1)` for each line, without its end; what it returns, if not empty, ends the reading and is
// the error, to which file and line are added.
using TakeLine = std::function<std::string(std::string_view line, size_t number)>;
tl::expected<void, std::string> read_lines(const std::filesystem::path &path, const TakeLine &take);

} // namespace hbf::replay
