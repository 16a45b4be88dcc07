// SPDX-License-Identifier: Apache-2.0
// Exact attention over blocks wherever they lie: each is attended in its place, and the partial results are put together in
// the blocks' order (fold.hpp). For a given layout (which tokens are in which block, in which order) the result has the same
// bits whatever the places are, however many tokens are attended at once, and how often it is done.
//
// Grouped and multi-query attention are shapes: kv_heads fewer than query_heads. Head groups whose blocks are cut
// differently are calls of their own, and may be threads of their own: an object each.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/engine/attention/block_runner.hpp"

namespace hbf::kv {

struct ExactReport {
    uint64_t blocks = 0; // attended, each once for all heads and tokens of a pass
    uint32_t passes = 0; // over the blocks: one for as many tokens as 1024 query heads are
    uint64_t not_finite =
        0; // rows (a query head of a token) that came out with NaN or infinity, as the keys and values have it
};

// One thread at a time. Once warmed, nothing is allocated.
class ExactAttention {
public:
    // Attention of the last `tokens` tokens of the sequence that `blocks` holds, in its order and with the keys and values
    // of these tokens: each sees itself and what is before it. One token is decoding, several are a chunk of prefill; blocks
    // that some of them see in part are attended token by token, so they had better lie in memory.
    //
    // query, output: tokens * query_heads * head_dim numbers, token after token, head after head. Of the shape query_heads
    // are those of one token. A place is named in a call at most once; nullptr where no block lies. After an error `output`
    // holds nothing of use, and nothing is in flight.
    Result<> attend(const kv_shape &shape, std::span<AttendPlace *const> places, std::span<const Block> blocks,
                    const float *query, uint32_t tokens, float *output);

    // Says what the next attend() of one token will be called with: the next layer's blocks, while this one's are attended
    // or before its query is known. A hint; AttendPlace::prefetch says what becomes of it.
    void prefetch(const kv_shape &shape, std::span<AttendPlace *const> places, std::span<const Block> blocks) noexcept;

    const ExactReport &report() const noexcept { return report_; } // of the last call

private:
    struct Pass; // some tokens at once
    Result<> attend_passes(const kv_shape &shape, std::span<AttendPlace *const> places, std::span<const Block> blocks,
                           const float *query, uint32_t tokens, float *output);
    Result<> run_pass(const Pass &pass);
    Result<> attend_in_part(const Pass &pass, const Block &block, uint64_t first);
    void gather(const Pass &pass);
    void scatter(const Pass &pass);

    Fold fold_;
    BlockRunner runner_;
    std::vector<float> query_, output_, state_, one_state_, one_output_;
    ExactReport report_;
};

} // namespace hbf::kv
