// SPDX-License-Identifier: Apache-2.0
#include "tools/emulated.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "core/host/root.hpp"

namespace hbf::tools {
namespace {

bool says_it(std::string_view line) {
    constexpr std::string_view word = "emulated";
    return std::search(line.begin(), line.end(), word.begin(), word.end(),
                       [](unsigned char a, char b) { return std::tolower(a) == b; }) != line.end();
}

} // namespace

std::string emulated_machine() {
    return host::emulated_machine("/");
}

std::string said_emulated(std::string text) {
    if (emulated_machine().empty()) return text;
    std::string out;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = std::string_view(text).substr(at, end - at);
        out += line;
        if (line.find_first_not_of(" \t\r") != line.npos && !says_it(line)) out += "  [emulated]";
        if (end < text.size()) out += '\n';
        at = end + 1;
    }
    return out;
}

} // namespace hbf::tools
