// SPDX-License-Identifier: Apache-2.0
#include "core/common/printable.hpp"

#include <cstdint>

#include <fmt/format.h>

namespace hbf {
namespace {

// Length of the UTF-8 sequence at the start of `text`, 0 if it is broken.
size_t utf8_length(std::string_view text) {
    const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
    const uint8_t first = byte(0);
    const size_t length = first < 0x80                    ? 1
                          : first >= 0xc2 && first < 0xe0 ? 2
                          : (first & 0xf0) == 0xe0        ? 3
                          : first >= 0xf0 && first < 0xf5 ? 4
                                                          : 0;
    if (length == 0 || length > text.size()) return 0;
    for (size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return 0;
    }
    if (first == 0xe0 && byte(1) < 0xa0) return 0;  // overlong
    if (first == 0xed && byte(1) >= 0xa0) return 0; // surrogate
    if (first == 0xf0 && byte(1) < 0x90) return 0;  // overlong
    if (first == 0xf4 && byte(1) >= 0x90) return 0; // above U+10FFFF
    if (first == 0xc2 && byte(1) < 0xa0) return 0;  // C1 control
    // Line and paragraph separators, and what turns the direction of writing: U+2028 to U+202E, U+2066 to U+2069.
    if (first == 0xe2 && byte(1) == 0x80 && byte(2) >= 0xa8 && byte(2) <= 0xae) return 0;
    if (first == 0xe2 && byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9) return 0;
    return length;
}

} // namespace

std::string printable(std::string_view text, size_t most) {
    std::string out;
    while (!text.empty()) {
        const auto first = static_cast<uint8_t>(text.front());
        const size_t length = utf8_length(text);
        const bool plain = length > 0 && first >= 0x20 && first != 0x7f;
        const size_t cost = plain ? length : 4;
        if (out.size() + cost > most) return out + "...";
        if (plain)
            out.append(text.substr(0, length));
        else if (first == '\n' || first == '\t')
            out.push_back(' ');
        else
            out += fmt::format("\\x{:02x}", first);
        text.remove_prefix(plain ? length : 1);
    }
    return out;
}

std::string printable_lines(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const size_t end = text.find('\n');
        out += printable(text.substr(0, end), std::string::npos);
        if (end == std::string_view::npos) break;
        out.push_back('\n');
        text.remove_prefix(end + 1);
    }
    return out;
}

} // namespace hbf
