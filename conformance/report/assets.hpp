// SPDX-License-Identifier: Apache-2.0
// Files that are part of the HTML report, held in the program (assets.S).
#pragma once

#include <string_view>

namespace hbf::conformance::assets {

std::string_view page_css();
std::string_view page_js();
std::string_view chart_js(); // Chart.js (MIT), "" if it was not there when this program was built

} // namespace hbf::conformance::assets
