// SPDX-License-Identifier: Apache-2.0
// A TOML document as a plain tree with places, so that the parser's headers are compiled in one file only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hbf/status.hpp"

namespace hbf {

enum class TomlType { string, integer, number, boolean, time, list, table };
std::string_view to_string(TomlType type) noexcept; // "a string", "a list", ...

struct TomlPlace {
    uint32_t line = 0, column = 0; // from 1; 0 unknown
};

struct TomlNode {
    TomlType type = TomlType::table;
    std::string key;             // in a table: this member's own key
    TomlPlace key_place;         // of the key
    TomlPlace place;             // of the value
    std::string text;            // scalars as text: "true", "42", "0.5", "2027-03-31" (only dates), a string's content
    int64_t integer = 0;         // integer
    double number = 0;           // integer and number
    bool boolean = false;        // boolean
    std::vector<TomlNode> items; // members of a table (sorted by key) or elements of a list

    const TomlNode *find(std::string_view member) const noexcept; // nullptr if absent or no table
};

// INVALID with "FILE:LINE:COLUMN: what is wrong" for anything that is not TOML; text with NUL bytes is called binary.
Result<TomlNode> parse_toml(std::string_view text, const std::string &file);

// "FILE:LINE:COLUMN"
std::string place_in(const std::string &file, TomlPlace place);

} // namespace hbf
