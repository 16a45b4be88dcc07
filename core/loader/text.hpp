// SPDX-License-Identifier: Apache-2.0
// Text that came from a plugin, its manifest or its output, made fit to be shown.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hbf::loader {

// Control bytes and broken UTF-8 become "\xNN", so that no plugin can move the cursor of whoever reads it; what is over
// `most` bytes is cut and "..." says so.
std::string printable(std::string_view text, size_t most = 512);

// The last line that is not blank.
std::string_view last_line(std::string_view text);

// Parts between `separator`, blanks around each removed; an empty text has no parts.
std::vector<std::string> split(std::string_view text, char separator);

} // namespace hbf::loader
