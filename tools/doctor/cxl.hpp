// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/doctor/look.hpp"

namespace hbf::tools::doctor {

// "mem0", "region0", "dax0.0": names in a folder that begin with `kind` and a number. Doubts as Look::entries.
std::vector<std::string> numbered(Look &look, const std::string &folder, std::string_view kind);

// "node2": the nodes that DAX devices and CXL regions stand behind.
std::vector<std::string> far_nodes(Look &look);

// CXL or DAX memory of any kind; says "not applicable" and gives false where there is none.
bool any_cxl(Look &look);

} // namespace hbf::tools::doctor
