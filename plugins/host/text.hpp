// SPDX-License-Identifier: Apache-2.0
// Text into the fixed arrays of the ABI.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace hbf::host {

// Cuts to fit and always ends with NUL.
template <size_t N>
void put_text(char (&out)[N], std::string_view text) {
    size_t size = std::min(text.size(), N - 1);
    std::memcpy(out, text.data(), size);
    std::memset(out + size, 0, N - size);
}

// Appends to what stands there.
template <size_t N>
void add_text(char (&out)[N], std::string_view text) {
    size_t used = ::strnlen(out, N - 1);
    size_t size = std::min(text.size(), N - 1 - used);
    std::memcpy(out + used, text.data(), size);
    out[used + size] = '\0';
}

} // namespace hbf::host
