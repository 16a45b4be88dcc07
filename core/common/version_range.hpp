// SPDX-License-Identifier: Apache-2.0
// Versions as makers of drivers write them, and lists of comparisons that one has to meet: ">=535.54 <550".
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace hbf {

// The numbers at its beginning: "535.54.03-p2p" is 535, 54, 3. Zeros at the end are left out: 535.0 is 535. Empty: none.
std::vector<uint64_t> parse_version(std::string_view text);

// Comparisons with >=, <=, >, < or =, between them blanks or commas; at least one.
bool is_version_range(std::string_view range);

// Does the version meet every comparison? One without numbers meets none, and a range that is none is met by none.
bool version_in_range(std::string_view range, std::string_view version);

} // namespace hbf
