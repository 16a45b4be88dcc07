// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "hbf/status.hpp"

namespace hbf::loader {

std::string sha256_hex(std::string_view text);

// Of the whole file behind `fd`, from its start; the descriptor's position is left alone. The error names `path`.
Result<std::string> sha256_file(int fd, const std::string &path);

} // namespace hbf::loader
