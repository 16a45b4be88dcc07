// SPDX-License-Identifier: Apache-2.0
// How many tokens a block of a group of heads takes: many where attention is diffuse, few where it is peaked.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace hbf::kv {

inline constexpr uint32_t smallest_block = 16, largest_block = 256; // tokens

// B = ceil(chunk (1 + H / H_avg)), at least 16 and at most 256 tokens, up to the next multiple of `align`. Without an
// average (0: no attention was seen) it is the chunk itself.
inline uint32_t block_size(uint32_t chunk, uint32_t align, double entropy, double average) noexcept {
    double size = chunk;
    if (average > 0 && std::isfinite(average) && entropy >= 0 && std::isfinite(entropy))
        size = std::ceil(chunk * (1 + entropy / average));
    const auto tokens = static_cast<uint32_t>(std::clamp<double>(size, smallest_block, largest_block));
    const uint32_t aligned = (tokens + align - 1) / align * align;
    return aligned > largest_block ? largest_block / align * align : aligned;
}

// One step of a change: nothing has to be copied, and no two steps are far apart.
inline uint32_t next_size(uint32_t now, uint32_t goal, uint32_t align) noexcept {
    if (now < goal) return std::min(goal, now + align);
    return now > goal + align ? now - align : std::min(now, goal);
}

} // namespace hbf::kv
