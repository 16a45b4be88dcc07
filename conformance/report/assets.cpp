// SPDX-License-Identifier: Apache-2.0
#include "conformance/report/assets.hpp"

extern "C" {
extern const char hbf_asset_page_css[], hbf_asset_page_css_end[];
extern const char hbf_asset_page_js[], hbf_asset_page_js_end[];
extern const char hbf_asset_chart_js[], hbf_asset_chart_js_end[];
}

namespace hbf::conformance::assets {

std::string_view page_css() {
    return {hbf_asset_page_css, hbf_asset_page_css_end};
}
std::string_view page_js() {
    return {hbf_asset_page_js, hbf_asset_page_js_end};
}
std::string_view chart_js() {
    return {hbf_asset_chart_js, hbf_asset_chart_js_end};
}

} // namespace hbf::conformance::assets
