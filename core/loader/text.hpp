// SPDX-License-Identifier: Apache-2.0
// Parts of texts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/common/printable.hpp"

namespace hbf::loader {

// The last line that is not blank.
std::string_view last_line(std::string_view text);

// Parts between `separator`, blanks around each removed; an empty text has no parts.
std::vector<std::string> split(std::string_view text, char separator);

} // namespace hbf::loader
