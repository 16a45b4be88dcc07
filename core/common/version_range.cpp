// SPDX-License-Identifier: Apache-2.0
#include "core/common/version_range.hpp"

#include <algorithm>

namespace hbf {
namespace {

struct Comparison {
    std::string_view how; // ">=", "<", ...
    std::vector<uint64_t> version;
};

// Empty: no comparison at all, or one that is none.
std::vector<Comparison> comparisons(std::string_view range) {
    std::vector<Comparison> out;
    while (!range.empty()) {
        const std::string_view word = range.substr(0, range.find_first_of(" ,"));
        range.remove_prefix(std::min(range.size(), word.size() + 1));
        if (word.empty()) continue;
        const size_t at = word.find_first_of("0123456789");
        const std::string_view how = word.substr(0, at);
        const bool known = how == ">=" || how == "<=" || how == ">" || how == "<" || how == "=";
        if (!known || at == std::string_view::npos) return {};
        out.push_back({how, parse_version(word.substr(at))});
    }
    return out;
}

bool holds(const std::vector<uint64_t> &version, const Comparison &with) {
    if (with.how == ">=") return version >= with.version;
    if (with.how == "<=") return version <= with.version;
    if (with.how == ">") return version > with.version;
    if (with.how == "<") return version < with.version;
    return version == with.version;
}

} // namespace

std::vector<uint64_t> parse_version(std::string_view text) {
    std::vector<uint64_t> out;
    uint64_t number = 0;
    bool digits = false;
    for (const char c : text) {
        if (c >= '0' && c <= '9') {
            number = number * 10 + static_cast<uint64_t>(c - '0');
            digits = true;
        } else if (c == '.' && digits) {
            out.push_back(number);
            number = 0;
            digits = false;
        } else {
            break;
        }
    }
    if (digits) out.push_back(number);
    while (!out.empty() && out.back() == 0) out.pop_back();
    return out;
}

bool is_version_range(std::string_view range) {
    return !comparisons(range).empty();
}

bool version_in_range(std::string_view range, std::string_view version) {
    const auto all = comparisons(range);
    if (all.empty() || version.empty() || version[0] < '0' || version[0] > '9') return false;
    const auto parsed = parse_version(version);
    return std::all_of(all.begin(), all.end(), [&](const Comparison &one) { return holds(parsed, one); });
}

} // namespace hbf
