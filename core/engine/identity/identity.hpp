// SPDX-License-Identifier: Apache-2.0
// What KV bytes belong to: a model, a layout, a tenant, and a chain of tokens. Two blocks with one identity hold the same
// bytes, because everything that the bytes depend on is in it. SHA-256: nobody can make two inputs that share one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/engine/identity/fields.hpp"
#include "core/engine/types.hpp"

namespace hbf::kv {

struct ModelFacts {
    std::string name;      // "Llama-3.1-8B"; for people, and in the digest
    Identity weights;      // digest of the weights as they are served; after an update of the weights another
    std::string adapter;   // LoRA or the like, "": none
    std::string positions; // how positions are encoded, where it may change: "rope 500000 llama3 8"
};
Identity model_identity(const ModelFacts &facts) noexcept;

struct LayoutFacts {
    Element element = Element::fp16;
    uint32_t layers = 0, kv_heads = 0, head_size = 0;
    uint32_t shard = 0, shards = 1; // which part of the heads or layers this process holds
    std::string arrangement;        // of the bytes in a block: "k tile 16, v panel 16"
};
Identity layout_identity(const LayoutFacts &facts) noexcept;

// Identities of the blocks of one model, layout and tenant. [any thread]
class BlockIdentities {
public:
    // `tenant`: a salt that only this tenant's requests know; blocks of different salts never meet. "": shared by all.
    BlockIdentities(const Identity &model, const Identity &layout, std::string_view tenant) noexcept;

    // Of the block that holds `tokens` and follows `parent` (none for the first of a sequence). `extra`: what the tokens do
    // not say, such as the digest of an image behind placeholder tokens. 0.4 us for 16 tokens.
    Identity of(const Identity &parent, std::span<const uint32_t> tokens,
                std::span<const std::byte> extra = {}) const noexcept;

private:
    Fields begun_; // model, layout and tenant are hashed once
};

std::string to_hex(const Identity &identity);
std::optional<Identity> identity_from_hex(std::string_view text); // 64 digits, either case

} // namespace hbf::kv
