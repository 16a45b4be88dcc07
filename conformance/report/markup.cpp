// SPDX-License-Identifier: Apache-2.0
#include "conformance/report/markup.hpp"

#include "core/common/printable.hpp"

namespace hbf::conformance {

std::string escape_markup(std::string_view text) {
    std::string out;
    const std::string shown = printable_lines(text);
    out.reserve(shown.size() + shown.size() / 8);
    for (const char c : shown) switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        case '\'':
            out += "&#39;";
            break;
        default:
            out += c;
        }
    return out;
}

} // namespace hbf::conformance
