// SPDX-License-Identifier: Apache-2.0
// Sizes and numbers as text, both ways. Decimal units (GB, MB, kB) are powers of 1000, binary ones (GiB, MiB, KiB) of 1024.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace hbf {

// "4096", "64KiB", "1.5 GB", "1G" (= GiB, as in most tools' -size options). The error names the value and the remedy.
tl::expected<uint64_t, std::string> parse_size(std::string_view text);

std::string format_size(uint64_t bytes);                      // "64 KiB", "1.50 GiB": binary, exact if it can be short
std::string format_significant(double value, int digits = 4); // plain notation, no exponent
std::string format_duration(double seconds);                  // "1.23 ms"

std::optional<uint64_t> parse_number(std::string_view text); // digits only, no sign, no overflow
std::optional<double> parse_real(std::string_view text);     // finite

} // namespace hbf
