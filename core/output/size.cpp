// SPDX-License-Identifier: Apache-2.0
#include "core/output/size.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace hbf {
namespace {

struct Unit {
    std::string_view name;
    uint64_t bytes;
};
constexpr uint64_t kib = 1024, mib = kib * kib, gib = kib * mib, tib = kib * gib;
constexpr std::array units{
    Unit{"", 1},      Unit{"B", 1},     Unit{"K", kib},      Unit{"M", mib},         Unit{"G", gib},
    Unit{"T", tib},   Unit{"KiB", kib}, Unit{"MiB", mib},    Unit{"GiB", gib},       Unit{"TiB", tib},
    Unit{"kB", 1000}, Unit{"KB", 1000}, Unit{"MB", 1000000}, Unit{"GB", 1000000000}, Unit{"TB", 1000000000000},
};

bool same_letters(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
        if (std::tolower(static_cast<unsigned char>(a[i])) != std::tolower(static_cast<unsigned char>(b[i]))) return false;
    }
    return true;
}

} // namespace

tl::expected<uint64_t, std::string> parse_size(std::string_view text) {
    auto wrong = [&](std::string_view why) {
        return tl::unexpected(
            fmt::format("'{}' is not a size: {}; write for example 64KiB, 256MiB, 1GB or 1GiB", text, why));
    };
    auto digits = text.find_first_not_of("0123456789.");
    auto number = text.substr(0, digits);
    auto unit = digits == std::string_view::npos ? std::string_view{} : text.substr(digits);
    while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
    if (number.empty()) return wrong(text.starts_with('-') ? "it must not be negative" : "it does not start with a number");
    uint64_t scale = 0;
    for (const auto &known : units) {
        if (same_letters(unit, known.name)) scale = known.bytes;
    }
    if (scale == 0) return wrong(fmt::format("unknown unit '{}'", unit));
    if (auto whole = parse_number(number)) {
        if (*whole > UINT64_MAX / scale) return wrong("it is larger than 64 bits can say");
        return *whole * scale;
    }
    auto real = parse_real(number);
    if (!real) return wrong("the number is malformed");
    double bytes = *real * static_cast<double>(scale);
    if (!(bytes < 1.8e19)) return wrong("it is larger than 64 bits can say");
    if (scale == 1) return wrong("a fraction of a byte");
    return static_cast<uint64_t>(std::llround(bytes));
}

std::string format_size(uint64_t bytes) {
    static constexpr std::array<Unit, 4> binary{Unit{"TiB", tib}, Unit{"GiB", gib}, Unit{"MiB", mib}, Unit{"KiB", kib}};
    for (const auto &unit : binary) {
        if (bytes < unit.bytes) continue;
        if (bytes % unit.bytes == 0) return fmt::format("{} {}", bytes / unit.bytes, unit.name);
        return fmt::format("{} {}", format_significant(static_cast<double>(bytes) / static_cast<double>(unit.bytes)),
                           unit.name);
    }
    return fmt::format("{} B", bytes);
}

std::string format_significant(double value, int digits) {
    if (!std::isfinite(value)) return "n/a";
    if (value == 0) return "0";
    int magnitude = static_cast<int>(std::floor(std::log10(std::fabs(value))));
    // Rounding may carry into the next magnitude: 9.9996 with four digits is 10.00.
    double step = std::pow(10, magnitude - digits + 1);
    if (std::fabs(std::round(value / step) * step) >= std::pow(10, magnitude + 1)) ++magnitude;
    return fmt::format("{:.{}f}", value, std::max(0, digits - 1 - magnitude));
}

std::string format_duration(double seconds) {
    double size = std::fabs(seconds);
    if (size >= 1) return format_significant(seconds, 3) + " s";
    if (size >= 1e-3) return format_significant(seconds * 1e3, 3) + " ms";
    if (size >= 1e-6) return format_significant(seconds * 1e6, 3) + " us";
    return format_significant(seconds * 1e9, 3) + " ns";
}

std::optional<uint64_t> parse_number(std::string_view text) {
    uint64_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
    return value;
}

std::optional<double> parse_real(std::string_view text) {
    double value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty() || !std::isfinite(value))
        return std::nullopt;
    return value;
}

} // namespace hbf
