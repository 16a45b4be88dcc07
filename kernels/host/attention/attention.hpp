// SPDX-License-Identifier: Apache-2.0
// Partial attention on the host, its exact merge, and the key sketches: kernels/device/{attention,attention_merge,
// sketch_score}.h in vectors, with their buffers and arguments. Those headers say what everything means, and
// attention_layout.h how memory is laid out. On this thread; nothing is allocated.
//
// Where instructions fuse multiplication and addition (variants AVX2, AVX3, NEON: attention_is_fused) the results are those
// of the device kernels and of their twins, bit for bit. The others round twice: their scores and sums lie within the same
// bound of the exact ones, gamma(n) = n u / (1 - n u) of the sum of magnitudes, n the terms added up one after the other and
// u = 2^-23 rather than 2^-24, and so do the results.
#pragma once

#include <cstdint>

#include "kernels/device/attention.h"
#include "kernels/device/attention_merge.h"

namespace hbf::kernels {

// Buffers of a launch. Alignment: blocks as kv_block says, the rest to 4 bytes (kv_block: 8).
struct AttentionBuffers {
    const uint8_t *kv;
    const device::kv_block *blocks;
    const float *query;
    float *state;  // m, l: 2 * block_count * query_heads
    float *output; // block_count * query_heads * head_dim
};

// What is wrong with a shape, nullptr if nothing. Functions and kernels below write nothing if there is something.
const char *attention_refused(const device::kv_shape &shape) noexcept;

// Blocks that do not fit into kv_size come out as NaN.
void attention(const AttentionBuffers &buffers, const device::attention_arguments &arguments) noexcept;

// state and output of block_count blocks into merged_state and merged_output, a head each.
void attention_merge(const float *state, const float *output, float *merged_state, float *merged_output,
                     const device::attention_merge_arguments &arguments) noexcept;

// output / l, in place: attention itself. 0 where l is 0, for attention over nothing is nothing.
void attention_finish(const float *state, float *output, uint32_t query_heads, uint32_t head_dim) noexcept;

// Puts rows as models make them, kv_heads * head_dim stored numbers a token, to their places in a block, from its token
// `first` on. False, and nothing written, if the shape is refused or the block has no room for them.
bool attention_pack(const device::kv_shape &shape, const void *keys, const void *values, uint32_t first, uint32_t tokens,
                    void *block) noexcept;

// Which variant runs, chosen with the others (target.hpp).
const char *attention_target() noexcept;
bool attention_is_fused() noexcept;

// For the bench: fused multiply-adds that do not wait for each other, as fast as this CPU can. Returns how many a round.
uint64_t attention_fma_loop(uint64_t rounds) noexcept;

} // namespace hbf::kernels
