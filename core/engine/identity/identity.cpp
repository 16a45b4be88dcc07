// SPDX-License-Identifier: Apache-2.0
#include "core/engine/identity/identity.hpp"

namespace hbf::kv {

Identity model_identity(const ModelFacts &facts) noexcept {
    return Fields("hbf.kv.model/1")
        .add(Field::model_name, facts.name)
        .add(Field::weights, facts.weights)
        .add(Field::adapter, facts.adapter)
        .add(Field::positions, facts.positions)
        .digest();
}

Identity layout_identity(const LayoutFacts &facts) noexcept {
    return Fields("hbf.kv.layout/1")
        .add(Field::element, to_string(facts.element))
        .add(Field::layers, facts.layers)
        .add(Field::kv_heads, facts.kv_heads)
        .add(Field::head_size, facts.head_size)
        .add(Field::shard, facts.shard)
        .add(Field::shards, facts.shards)
        .add(Field::arrangement, facts.arrangement)
        .digest();
}

BlockIdentities::BlockIdentities(const Identity &model, const Identity &layout, std::string_view tenant) noexcept
    : begun_("hbf.kv.block/1") {
    begun_.add(Field::model, model).add(Field::layout, layout).add(Field::tenant, tenant);
}

Identity BlockIdentities::of(const Identity &parent, std::span<const uint32_t> tokens,
                             std::span<const std::byte> extra) const noexcept {
    Fields fields = begun_;
    return fields.add(Field::parent, parent).add(Field::tokens, tokens).add(Field::extra, extra).digest();
}

std::string to_hex(const Identity &identity) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    text.reserve(2 * identity.bytes.size());
    for (const uint8_t byte : identity.bytes) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

std::optional<Identity> identity_from_hex(std::string_view text) {
    Identity identity;
    if (text.size() != 2 * identity.bytes.size()) return std::nullopt;
    for (size_t at = 0; at < text.size(); ++at) {
        const char digit = text[at];
        const int value = digit >= '0' && digit <= '9'   ? digit - '0'
                          : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
                          : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
                                                         : -1;
        if (value < 0) return std::nullopt;
        identity.bytes[at / 2] = static_cast<uint8_t>(identity.bytes[at / 2] << 4 | value);
    }
    return identity;
}

} // namespace hbf::kv
