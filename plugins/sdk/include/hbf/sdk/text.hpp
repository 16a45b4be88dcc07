// SPDX-License-Identifier: Apache-2.0
// Text into the fixed char arrays of the ABI.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace hbf::sdk {

// Bytes of `text` that fit in `room`, cut between UTF-8 characters.
inline size_t cut(std::string_view text, size_t room) noexcept {
    if (text.size() <= room) return text.size();
    while (room > 0 && (static_cast<unsigned char>(text[room]) & 0xc0) == 0x80) --room;
    return room;
}

// NUL-terminated, cut to fit, the rest zero: set_text(info.name, "dram0").
template <size_t N>
void set_text(char (&field)[N], std::string_view text) noexcept {
    const size_t kept = cut(text, N - 1);
    std::memcpy(field, text.data() ? text.data() : "", kept);
    std::memset(field + kept, 0, N - kept);
}

} // namespace hbf::sdk
