// SPDX-License-Identifier: Apache-2.0
// The names in a folder, for code that must live where memory runs out: in a std::filesystem::directory_iterator libstdc++
// then ends the process (its advance is noexcept, and allocates).
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "hbf/status.hpp"

namespace hbf {

// Without "." and "..", sorted: the order in which a file system lists is no order. UNAVAILABLE: no such folder. PERMISSION:
// not readable. INVALID: no folder, more than `most` entries, or it could not be read to its end. Each message begins with
// the path. Throws std::bad_alloc.
Result<std::vector<std::string>> list_folder(const std::filesystem::path &folder, size_t most);

} // namespace hbf
