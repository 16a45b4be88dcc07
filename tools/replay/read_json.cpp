// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/output/json.hpp"
#include "tools/replay/builder.hpp"

namespace hbf::replay {

bool is_bailian(std::string_view line) {
    const auto document = Json::parse(line);
    return document && document->get("chat_id").has_value();
}

std::string json_line(std::string_view text, bool bailian, Builder &builder) {
    if (text.find_first_not_of(" \t") == text.npos) return "";
    const auto document = Json::parse(text);
    if (!document) return document.error();
    const auto time = document->get("timestamp");
    if (!time || !time->number()) return "no number 'timestamp'";
    const auto length = document->get("input_length");
    if (!length || !length->whole()) return "no whole number 'input_length'";
    const auto ids = document->get("hash_ids");
    const auto blocks = ids ? ids->wholes() : std::nullopt;
    if (!blocks) return "no list of whole numbers 'hash_ids'";
    // The last block holds what is left; where the counts disagree, the blocks are believed.
    const uint64_t full = bailian ? 16 : 512, count = blocks->size();
    const uint64_t before_last = count == 0 ? 0 : (count - 1) * full;
    const uint64_t left = *length->whole() > before_last ? *length->whole() - before_last : 0;
    const uint64_t last = left == 0 || left > full ? full : left;
    if (auto mistake = builder.begin_request(*time->number() / (bailian ? 1 : 1000)); !mistake.empty()) return mistake;
    for (uint64_t i = 0; i < count; ++i) {
        const auto tokens = static_cast<uint32_t>(i + 1 == count ? last : full);
        if (auto mistake = builder.add((*blocks)[i], tokens); !mistake.empty()) return mistake;
    }
    return "";
}

} // namespace hbf::replay
