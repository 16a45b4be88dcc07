// SPDX-License-Identifier: Apache-2.0
// Attention of one token over the blocks that matter: sinks, the recent window, and what two stages find (chooser.hpp). It
// says how wrong the result can be at most; with a target it reads on until that is low enough, and reads everything where
// that is no dearer, which it says.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/engine/attention/block_runner.hpp"
#include "core/engine/attention/certificate.hpp"
#include "core/engine/attention/chooser.hpp"

namespace hbf::kv {

// Of one step. A KV head's part of a block counts as a block here, for KV heads choose for themselves.
struct SelectiveReport {
    uint64_t blocks = 0, attended = 0, looked_at = 0;                            // all; read; those whose sketches were read
    uint32_t exact_heads = 0;                                                    // KV heads for which everything was read
    uint32_t rounds = 0;                                                         // the most of any KV head
    uint64_t bytes_of_summaries = 0, bytes_of_sketches = 0, bytes_of_blocks = 0; // read
    uint64_t bytes_of_all_blocks = 0;                                            // what exact attention reads
    double missed = 0, error = 0; // the largest of any query head's certificate

    uint64_t bytes() const noexcept { return bytes_of_summaries + bytes_of_sketches + bytes_of_blocks; }
};

// One thread at a time. Once warmed, nothing is allocated.
class SelectiveAttention {
public:
    // `blocks` is the whole sequence in its order, of the index' shape, and the index knows the tokens of all of them.
    // query, output: query_heads * head_dim numbers. Errors as of ExactAttention::attend.
    //
    // A KV head for which everything is read has the bits of exact attention.
    Result<> attend(const Selection &selection, const KeyIndex &index, std::span<AttendPlace *const> places,
                    std::span<const Block> blocks, const float *query, float *output);

    const SelectiveReport &report() const noexcept { return report_; }                   // of the last call
    std::span<const Certificate> certificates() const noexcept { return certificates_; } // of each query head

private:
    struct Call; // what attend() was given, for one KV head
    Result<> attend_heads(const Selection &selection, const KeyIndex &index, std::span<AttendPlace *const> places,
                          std::span<const Block> blocks, const float *query, float *output);
    Result<> attend_head(const Call &call);
    Result<> attend_blocks(const Call &call, std::span<const uint32_t> chosen);
    Result<> attend_all(const Call &call);
    void pick(const Call &call, std::span<const uint32_t> chosen);
    void add_round();
    double certify_heads(const Call &call);
    void finish_head(const Call &call);

    Chooser chooser_;
    BlockRunner runner_;
    Fold fold_;
    std::vector<Block> picked_;
    std::vector<uint32_t> all_;
    std::vector<float> state_, output_; // two slots: what rounds so far came to, and the last round
    std::vector<float> merged_state_, merged_output_;
    std::vector<double> known_; // logarithm of each head's mass
    uint32_t shared_ = 0, head_dim_ = 0;
    bool is_first_ = true; // round
    std::vector<Certificate> certificates_;
    SelectiveReport report_;
};

} // namespace hbf::kv
