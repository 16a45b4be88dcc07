// SPDX-License-Identifier: Apache-2.0
#include "core/loader/text.hpp"

namespace hbf::loader {

std::string_view last_line(std::string_view text) {
    while (!text.empty()) {
        const size_t end = text.find_last_not_of(" \t\r\n");
        if (end == std::string_view::npos) return {};
        text = text.substr(0, end + 1);
        const size_t start = text.find_last_of('\n');
        return start == std::string_view::npos ? text : text.substr(start + 1);
    }
    return {};
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const size_t end = text.find(separator);
        std::string_view part = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        const bool trailing = end != std::string_view::npos && text.empty();
        while (!part.empty() && (part.front() == ' ' || part.front() == '\t')) part.remove_prefix(1);
        while (!part.empty() && (part.back() == ' ' || part.back() == '\t')) part.remove_suffix(1);
        parts.emplace_back(part);
        if (trailing) parts.emplace_back();
    }
    return parts;
}

} // namespace hbf::loader
