// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/wrap.hpp"

#include <algorithm>
#include <sstream>

namespace hbf::tools {

size_t columns(std::string_view text) {
    return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::vector<std::string> fill(std::string_view text, size_t width) {
    std::vector<std::string> lines;
    std::istringstream words{std::string(text)};
    for (std::string word; words >> word;) {
        if (!lines.empty() && columns(lines.back()) + 1 + columns(word) <= width)
            lines.back() += " " + word;
        else
            lines.push_back(word);
    }
    return lines;
}

std::vector<Paragraph> paragraphs(std::string_view description) {
    std::vector<Paragraph> out;
    bool open = false; // the last paragraph goes on
    std::istringstream lines{std::string(description)};
    for (std::string line; std::getline(lines, line);) {
        const bool kept = line.starts_with(' ');
        if (line.find_first_not_of(' ') == line.npos) {
            open = false;
        } else if (open && kept == out.back().kept) {
            out.back().text += (kept ? "\n" : " ") + line;
        } else {
            out.push_back({line, kept});
            open = true;
        }
    }
    return out;
}

} // namespace hbf::tools
