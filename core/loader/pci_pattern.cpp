// SPDX-License-Identifier: Apache-2.0
// "VENDOR:DEVICE[:CLASS]": four hex digits each, the device may be *; CLASS is 2, 4 or 6 digits, the leading part counts.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "core/loader/manifest.hpp"
#include "core/loader/text.hpp"

namespace hbf::loader {
namespace {

bool is_hex(std::string_view text, size_t digits) noexcept {
    return text.size() == digits && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
           });
}

struct Parts {
    std::string_view vendor, device, class_code;
    size_t count = 0;
};

Parts parts_of(std::string_view pattern) noexcept {
    Parts parts;
    std::string_view *const fields[] = {&parts.vendor, &parts.device, &parts.class_code};
    for (; parts.count < 4; ++parts.count) {
        const size_t end = pattern.find(':');
        if (parts.count < 3) *fields[parts.count] = pattern.substr(0, end);
        if (end == std::string_view::npos) break;
        pattern.remove_prefix(end + 1);
    }
    ++parts.count;
    return parts;
}

bool same_hex(std::string_view wanted, std::string_view value) noexcept {
    const auto lower = [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; };
    return wanted.size() <= value.size() &&
           std::equal(wanted.begin(), wanted.end(), value.begin(), [&](char a, char b) { return lower(a) == b; });
}

} // namespace

bool pci_pattern_is_valid(std::string_view pattern) noexcept {
    const Parts parts = parts_of(pattern);
    if (parts.count < 2 || parts.count > 3 || !is_hex(parts.vendor, 4)) return false;
    if (parts.device != "*" && !is_hex(parts.device, 4)) return false;
    const std::string_view c = parts.class_code;
    return parts.count == 2 || is_hex(c, 2) || is_hex(c, 4) || is_hex(c, 6);
}

bool pci_matches(std::string_view pattern, const PciDevice &device) noexcept {
    const Parts parts = parts_of(pattern);
    char text[16];
    const auto hex = [&](uint32_t value, int digits) {
        const auto end = fmt::format_to_n(text, sizeof text, "{:0{}x}", value, digits).out;
        return std::string_view(text, static_cast<size_t>(end - text));
    };
    return same_hex(parts.vendor, hex(device.vendor, 4)) &&
           (parts.device == "*" || same_hex(parts.device, hex(device.device, 4))) &&
           same_hex(parts.class_code, hex(device.class_code, 6));
}

} // namespace hbf::loader
