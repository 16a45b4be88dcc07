// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace hbf::tools {

std::string version_text(); // for --version, one line
std::string tool_version(); // "0.1.0"

} // namespace hbf::tools
