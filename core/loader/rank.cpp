// SPDX-License-Identifier: Apache-2.0
#include "core/loader/rank.hpp"

#include <tuple>

namespace hbf::loader {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

std::string_view take(std::string_view &text, bool digits) {
    size_t end = 0;
    while (end < text.size() && is_digit(text[end]) == digits) ++end;
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(end);
    return part;
}

int compare_numbers(std::string_view a, std::string_view b) {
    while (!a.empty() && a.front() == '0') a.remove_prefix(1);
    while (!b.empty() && b.front() == '0') b.remove_prefix(1);
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    return a.compare(b);
}

// One run of dots and digits alternating with other text.
int compare_runs(std::string_view a, std::string_view b) {
    while (!a.empty() || !b.empty()) {
        if (const int order = take(a, false).compare(take(b, false)); order != 0) return order;
        if (const int order = compare_numbers(take(a, true), take(b, true)); order != 0) return order;
    }
    return 0;
}

} // namespace

int compare_versions(std::string_view a, std::string_view b) {
    const auto split = [](std::string_view text) {
        text = text.substr(0, text.find('+')); // build metadata does not count
        const size_t dash = text.find('-');
        return std::pair(text.substr(0, dash), dash == std::string_view::npos ? std::string_view() : text.substr(dash + 1));
    };
    const auto [main_a, pre_a] = split(a);
    const auto [main_b, pre_b] = split(b);
    if (const int order = compare_runs(main_a, main_b); order != 0) return order;
    if (pre_a.empty() != pre_b.empty()) return pre_a.empty() ? 1 : -1;
    return compare_runs(pre_a, pre_b);
}

bool ranks_before(const RankKey &a, const RankKey &b) {
    const auto head = [](const RankKey &key) {
        return std::tuple(key.pin_index, key.emulated, key.allow_index, key.on_cpu, -int64_t{key.priority});
    };
    if (head(a) != head(b)) return head(a) < head(b);
    if (const int order = compare_versions(a.version, b.version); order != 0) return order > 0;
    return std::tie(a.name, a.found_index) < std::tie(b.name, b.found_index);
}

} // namespace hbf::loader
