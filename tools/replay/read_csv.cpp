// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <fmt/format.h>

#include "core/common/printable.hpp"
#include "core/output/size.hpp"
#include "tools/replay/builder.hpp"

namespace hbf::replay {
namespace {
constexpr std::string_view header = "timestamp_ms,request_id,block_id,tokens";
}

std::string CsvReader::line(std::string_view text, size_t number, Builder &builder) {
    if (number == 1) {
        if (text == header) return "";
        return fmt::format("the first line is '{}', expected '{}'", printable(std::string(text.substr(0, 100))), header);
    }
    if (text.empty()) return "";
    std::array<std::string_view, 4> fields;
    size_t found = 0;
    for (size_t at = 0; at <= text.size() && found < 5; ++found) {
        const size_t end = std::min(text.find(',', at), text.size());
        if (found < 4) fields[found] = text.substr(at, end - at);
        at = end + 1;
    }
    if (found != 4) return fmt::format("{} fields, expected 4 ({})", found, header);
    const auto time = parse_real(fields[0]);
    if (!time) return fmt::format("timestamp_ms '{}' is not a number", printable(std::string(fields[0])));
    const auto block = parse_number(fields[2]), tokens = parse_number(fields[3]);
    if (!block) return fmt::format("block_id '{}' is not a whole number", printable(std::string(fields[2])));
    if (!tokens || *tokens == 0 || *tokens > UINT32_MAX)
        return fmt::format("tokens '{}' is not a whole number from 1", printable(std::string(fields[3])));
    if (number == 2 || request_ != fields[1]) {
        request_ = fields[1];
        if (auto mistake = builder.begin_request(*time / 1000); !mistake.empty()) return mistake;
    }
    return builder.add(*block, static_cast<uint32_t>(*tokens));
}

} // namespace hbf::replay
