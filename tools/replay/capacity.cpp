// SPDX-License-Identifier: Apache-2.0
#include "tools/replay/capacity.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/common/printable.hpp"
#include "core/output/size.hpp"

namespace hbf::replay {

tl::expected<Capacity, std::string> parse_capacity(const std::string &text, const Trace &trace, uint64_t bytes_per_token) {
    const auto wrong = [&](const char *why) {
        return tl::unexpected(fmt::format("capacity '{}': {}", printable(text), why));
    };
    if (text.ends_with('%')) {
        const auto share = parse_real(text.substr(0, text.size() - 1));
        if (!share || *share <= 0 || *share > 100) return wrong("a share is from above 0% to 100%");
        const double blocks = std::round(*share / 100 * static_cast<double>(trace.blocks));
        return Capacity{text, static_cast<size_t>(std::max(1.0, blocks))};
    }
    if (const auto blocks = parse_number(text)) {
        if (*blocks == 0) return wrong("a cache of no block holds nothing");
        return Capacity{text, std::min<size_t>(*blocks, trace.blocks)};
    }
    const auto bytes = parse_size(text);
    if (!bytes) return wrong("expected a share of the trace (5%), a number of blocks (2000) or bytes (64GiB)");
    uint32_t tokens = 1; // of a full block
    for (const auto &access : trace.accesses) tokens = std::max(tokens, access.tokens);
    const uint64_t blocks = *bytes / bytes_per_token / tokens;
    if (blocks == 0)
        return wrong(fmt::format("a block of {} tokens takes {}", tokens, format_size(tokens * bytes_per_token)).c_str());
    return Capacity{text, std::min<size_t>(blocks, trace.blocks)};
}

} // namespace hbf::replay
