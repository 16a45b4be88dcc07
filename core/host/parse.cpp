// SPDX-License-Identifier: Apache-2.0
#include "core/host/parse.hpp"

#include <charconv>

namespace hbf::host {
namespace {

template <class T>
std::optional<T> whole(std::string_view text, int base) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
    return value;
}

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\0';
}

template <class Split>
std::vector<std::string_view> pieces(std::string_view text, Split split_here) {
    std::vector<std::string_view> out;
    for (size_t begin = 0; begin < text.size();) {
        size_t end = begin;
        while (end < text.size() && !split_here(text[end])) ++end;
        if (end > begin) out.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return out;
}

} // namespace

std::optional<uint64_t> parse_unsigned(std::string_view text) {
    if (text.starts_with("0x")) return whole<uint64_t>(text.substr(2), 16);
    return whole<uint64_t>(text, 10);
}

std::optional<int64_t> parse_signed(std::string_view text) {
    return whole<int64_t>(text, 10);
}

std::optional<double> parse_link_speed(std::string_view text) {
    if (text.starts_with("Unknown")) return 0.0;
    const size_t blank = text.find(' ');
    if (blank == std::string_view::npos || !text.substr(blank + 1).starts_with("GT/s")) return std::nullopt;
    double speed = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + blank, speed);
    if (error != std::errc{} || end != text.data() + blank || !(speed > 0 && speed < 1000)) return std::nullopt;
    return speed;
}

std::optional<std::vector<int>> parse_list(std::string_view text) {
    constexpr int largest = 65535;
    std::vector<int> out;
    for (const std::string_view part : pieces(text, [](char c) { return c == ','; })) {
        const size_t dash = part.find('-');
        const auto first = whole<int>(part.substr(0, dash), 10);
        const auto last = dash == std::string_view::npos ? first : whole<int>(part.substr(dash + 1), 10);
        if (!first || !last || *first < 0 || *last < *first || *last > largest) return std::nullopt;
        if (!out.empty() && *first <= out.back()) return std::nullopt; // the kernel lists them in order
        for (int i = *first; i <= *last; ++i) out.push_back(i);
    }
    return out;
}

std::string bracketed(std::string_view text) {
    const size_t open = text.find('['), close = text.find(']', open);
    if (open == std::string_view::npos || close == std::string_view::npos) return std::string(text);
    return std::string(text.substr(open + 1, close - open - 1));
}

std::optional<uint64_t> meminfo_bytes(std::string_view text, std::string_view name) {
    for (const std::string_view line : lines(text)) {
        const auto parts = words(line);
        for (size_t i = 0; i + 2 < parts.size(); ++i) {
            if (!parts[i].ends_with(':') || parts[i].substr(0, parts[i].size() - 1) != name || parts[i + 2] != "kB")
                continue;
            const auto value = whole<uint64_t>(parts[i + 1], 10);
            return value && *value <= UINT64_MAX / 1024 ? std::optional(*value * 1024) : std::nullopt;
        }
    }
    return std::nullopt;
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    return text;
}

std::string printable(std::string_view text) {
    std::string out(text);
    for (char &c : out) {
        if ((c < ' ' && c != '\n' && c != '\t') || c > '~') c = '?';
    }
    return out;
}

std::vector<std::string_view> lines(std::string_view text) {
    return pieces(text, [](char c) { return c == '\n'; });
}

std::vector<std::string_view> words(std::string_view text) {
    return pieces(text, is_blank);
}

} // namespace hbf::host
