// SPDX-License-Identifier: Apache-2.0
// The engine's words. Plain data; nothing here allocates or fails.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string_view>

namespace hbf::kv {

// The unit in which KV bytes are placed, checksummed and moved.
inline constexpr uint64_t granule_size = 64 * 1024;

// A block's number: dense, used again when the block is gone.
using BlockId = uint32_t;
inline constexpr BlockId no_block = UINT32_MAX;

// Where a block's bytes may be, hottest first.
enum class Tier : uint8_t { hbm = 0, hbf = 1, cold = 2 };
inline constexpr uint32_t tier_count = 3;
constexpr std::string_view to_string(Tier tier) noexcept {
    constexpr std::string_view names[] = {"hbm", "hbf", "cold"};
    return names[static_cast<uint8_t>(tier)];
}

// How keys and values are stored; the values are those of HBF_ELEMENT_* (kernels/device/float32.h).
enum class Element : uint8_t { fp16 = 0, bf16 = 1, fp32 = 2 };
constexpr uint32_t size_of(Element element) noexcept {
    return element == Element::fp32 ? 4 : 2;
}
constexpr std::string_view to_string(Element element) noexcept {
    constexpr std::string_view names[] = {"fp16", "bf16", "fp32"};
    return names[static_cast<uint8_t>(element)];
}

// What a block is: SHA-256 over its parent, model, layout, tokens and tenant. All zero: none.
struct Identity {
    std::array<uint8_t, 32> bytes{};
    explicit operator bool() const noexcept { return bytes != std::array<uint8_t, 32>{}; }
    auto operator<=>(const Identity &) const = default;
};

} // namespace hbf::kv
