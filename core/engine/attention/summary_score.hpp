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

// What is asked of them: query heads that share the KV head, times the scale already.
struct SummaryQuery {
    const float *query; // heads * head_dim
    uint32_t heads;
    const float *rounding;   // of each head: added to its bounds
    const float *log_tokens; // of each block, 16 * count
};

// Of each head and block: an upper bound of the logarithm of its mass, infinity where nothing is known, and the score of its
// mean key plus the logarithm of its tokens. `stride` numbers from head to head, at least 16 * count. The errors of scores
// against exact arithmetic are below (head_dim + 4) * 2^-23 of the sum of magnitudes.
void summary_score(const SummaryTiles &tiles, const SummaryQuery &query, float *upper, float *pooled,
                   size_t stride) noexcept;

// Of each block the score of the head for which it is best, each head's relative to its best of all; -infinity where `free`
// is 0. Numbers of all arrays: `count`, a multiple of 16, from head to head `stride`. Scores of free blocks are not NaN.
void best_of_heads(const float *scores, uint32_t heads, size_t count, size_t stride, const float *free,
                   float *best) noexcept;

// At least the sum of exp(scores - known) over those where `free` is not 0, and closer than 2^-14 of it where it is below
// 10^30. `count` as above.
double sum_of_masses(const float *scores, size_t count, const float *free, double known) noexcept;

} // namespace hbf::kv
