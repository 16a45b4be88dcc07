// SPDX-License-Identifier: Apache-2.0
// Scores of block summaries: for each block an upper bound of its keys' scores, and the score of its mean key, in vectors.
//
// Summaries stand in tiles of 16 blocks, so that a row of 16 neighbours is multiplied by one number, as everywhere in
// attention: for each channel of a KV head 16 smallest keys, then for each channel 16 largest, then 16 means. Numbers are
// stored as keys are.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hbf::kv {

inline constexpr uint32_t summary_tile = 16; // blocks

struct SummaryTiles {
    const uint8_t *first; // of the KV head
    size_t stride;        // bytes to the next tile's
    uint32_t count;       // tiles
    uint32_t head_dim;    // a multiple of 16
    uint32_t element;     // HBF_ELEMENT_*
};

// `query`: one head's, times the scale. 16 numbers a tile each. Their errors against exact arithmetic are below
// (head_dim + 4) * 2^-23 of the sum of magnitudes. Where keys are infinite a bound may be NaN: nothing is known then.
void summary_score(const SummaryTiles &tiles, const float *query, float *bound, float *mean) noexcept;

} // namespace hbf::kv
