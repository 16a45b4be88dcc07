// SPDX-License-Identifier: Apache-2.0
// What is kept in memory of every block of a layer (or of a head group of it), so that attention can choose among blocks
// without reading them: for each KV head and channel the smallest, the largest and the mean key (a 43rd part of keys and
// values where blocks have 64 tokens, an 85th with 128), the largest norm of a value, and a low-bit sketch of the keys
// (kernels/device/sketch_layout.h).
#pragma once

#include <cstdint>
#include <vector>

#include "hbf/status.hpp"
#include "kernels/device/sketch_layout.h"

namespace hbf::kv {

using kernels::device::sketch_shape;

// One writer, or any number of readers.
class KeyIndex {
public:
    // Code::invalid: the shape is refused.
    static Result<KeyIndex> make(const sketch_shape &shape);

    // Tokens [first, first + count) of a block, laid out as attention_layout.h says, are new; with `first` 0 the block is.
    // Blocks come in order: the next new one is number blocks(). Code::invalid otherwise. `capacity`: tokens that the block
    // has room for, where that is not what the shape says (0); such a block has no sketch.
    Result<> add_tokens(uint32_t block, const void *bytes, uint32_t first, uint32_t count, uint32_t capacity = 0);
    // The block is complete: its sketch is made. One without can be attended, and cannot be passed over.
    Result<> add_sketch(uint32_t block, const void *bytes);
    // Forgets blocks from this one on, for a sequence that goes back.
    void truncate(uint32_t block);

    const sketch_shape &shape() const noexcept { return shape_; }
    uint32_t blocks() const noexcept { return static_cast<uint32_t>(tokens_.size()); }
    uint32_t tokens(uint32_t block) const noexcept { return tokens_[block]; }
    bool has_sketch(uint32_t block) const noexcept { return sketched_[block] != 0; }
    // Largest Euclidean norm of a value, rounded up; infinity where a value is not finite.
    float value_norm(uint32_t block, uint32_t kv_head) const noexcept {
        return value_norm_[size_t{block} * shape_.kv.kv_heads + kv_head];
    }
    // Largest magnitude of each channel's finite keys, in any block: head_dim numbers.
    const float *magnitude(uint32_t kv_head) const noexcept {
        return magnitude_.data() + size_t{kv_head} * shape_.kv.head_dim;
    }
    uint32_t tiles() const noexcept { return (blocks() + 15) / 16; }
    bool all_have_sketches() const noexcept { return without_sketch_ == 0; }
    float largest_value_norm(uint32_t kv_head) const noexcept { return largest_norm_[kv_head]; } // of any block
    // Scores of all blocks for `heads` query heads, times the scale already: 16 * tiles() numbers each (summary_score.hpp).
    void score(uint32_t kv_head, const float *query, uint32_t heads, const float *rounding, float *upper, float *pooled,
               size_t stride) const noexcept;
    uint64_t bytes_scored() const noexcept; // of a KV head

    const uint8_t *sketches() const noexcept { return sketches_.data(); }
    uint64_t sketches_size() const noexcept { return sketches_.size(); }

    uint64_t bytes() const noexcept { // of memory
        return summaries_.capacity() + sketches_.capacity() + sketched_.capacity() +
               sizeof(float) * (value_norm_.capacity() + tokens_.capacity() + log_tokens_.capacity());
    }

private:
    explicit KeyIndex(const sketch_shape &shape);
    void resize(uint32_t blocks);
    size_t number(uint32_t block, uint32_t kv_head, uint32_t kind, uint32_t channel) const noexcept;
    float load(size_t number) const noexcept;
    void store(size_t number, float value) noexcept;
    struct Added { // to a block
        uint32_t block;
        const uint8_t *bytes;
        uint32_t first, count;
        kernels::device::kv_shape shape; // of the block
    };
    void add_channel(const Added &added, uint32_t kv_head, uint32_t channel);
    void add_values(const Added &added, uint32_t kv_head);

    sketch_shape shape_;
    uint32_t without_sketch_ = 0; // blocks
    std::vector<uint8_t> summaries_, sketches_, sketched_;
    std::vector<uint32_t> tokens_;
    std::vector<float> value_norm_, magnitude_;
    std::vector<float> log_tokens_;   // of each block, upwards; of whole tiles
    std::vector<float> largest_norm_; // of each KV head
};

} // namespace hbf::kv
