// SPDX-License-Identifier: Apache-2.0
// Text from outside (a plugin, a manifest, a file name, the environment), made fit to be shown.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hbf {

// Control bytes and broken UTF-8 become "\xNN", line ends and tabs blanks, and so do the characters that turn the direction
// of writing: nobody's text can move the cursor of whoever reads it, or look like another line. What is over `most` bytes
// is cut and "..." says so.
std::string printable(std::string_view text, size_t most = 512);

// The same for a text of several lines: these stay lines.
std::string printable_lines(std::string_view text);

} // namespace hbf
