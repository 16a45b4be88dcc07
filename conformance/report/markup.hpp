// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace hbf::conformance {

// Text made fit for the content and the quoted attributes of XML and HTML: markup is escaped, and what XML cannot hold
// (control characters, broken UTF-8) is shown as \xNN. Line ends and tabs stay.
std::string escape_markup(std::string_view text);

} // namespace hbf::conformance
