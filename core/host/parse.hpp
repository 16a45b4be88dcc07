// SPDX-License-Identifier: Apache-2.0
// The text forms that sysfs and procfs use. Each gives nothing for text of another form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hbf::host {

std::optional<uint64_t> parse_unsigned(std::string_view text); // "42", "0x2a"
std::optional<int64_t> parse_signed(std::string_view text);    // "-1"
std::optional<double> parse_link_speed(std::string_view text); // "16.0 GT/s PCIe" -> 16; "Unknown" -> 0

// "0-3,8" -> 0 1 2 3 8; "" -> none. No number over 65535.
std::optional<std::vector<int>> parse_list(std::string_view text);

// "always [madvise] never" -> "madvise"; text without brackets as it is.
std::string bracketed(std::string_view text);

// The value in bytes of the line "...Name:   123 kB" in a meminfo text.
std::optional<uint64_t> meminfo_bytes(std::string_view text, std::string_view name);

std::string_view trimmed(std::string_view text);
std::string printable(std::string_view text); // other bytes become '?'
std::vector<std::string_view> lines(std::string_view text);
std::vector<std::string_view> words(std::string_view text); // split at blanks

} // namespace hbf::host
