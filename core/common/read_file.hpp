// SPDX-License-Identifier: Apache-2.0
// Reads a whole regular file of bounded size, and says precisely why where it cannot.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include <sys/stat.h>

#include "hbf/status.hpp"

namespace hbf {

// UNAVAILABLE: no such file. PERMISSION: not readable. INVALID: a directory, a device, a link loop, or more than
// `max_bytes`. Each message begins with the path. Never blocks on a FIFO. `facts`, if given, is the opened file's own
// stat, so that what is checked is what was read.
Result<std::string> read_file(const std::filesystem::path &path, size_t max_bytes, struct stat *facts = nullptr);

// The first `bytes` at most, of a file of any size.
Result<std::string> read_file_head(const std::filesystem::path &path, size_t bytes);

} // namespace hbf
