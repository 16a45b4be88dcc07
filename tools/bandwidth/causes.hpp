// SPDX-License-Identifier: Apache-2.0
// From a low figure to its likely cause: what the machine and its devices say of themselves.
#pragma once

#include "tools/bandwidth/result.hpp"

namespace hbf::tools::bandwidth {

// What would explain a low figure on this machine, the likeliest first.
std::vector<std::string> likely_causes(const Row &row, const Machine &machine);

// Those of them that are troubles whatever the figure is: links that are down, narrow or slow on the row's way.
std::vector<std::string> link_causes(const Row &row, const Machine &machine);

} // namespace hbf::tools::bandwidth
