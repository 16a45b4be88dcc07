// SPDX-License-Identifier: Apache-2.0
// What is known of each block's attention mass before it is read: for the query heads of one KV head a lower and an upper
// bound, from summaries for all blocks, closer ones from sketches for those that were looked at.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/engine/attention/key_index.hpp"

namespace hbf::kv {

// One thread at a time. Once warmed, nothing is allocated. Masses are sums of exp(score), and stand here as logarithms.
class Estimate {
public:
    // The first stage: from the summaries of all blocks. `query`: the KV head's query heads, not scaled.
    void summarise(const KeyIndex &index, uint32_t kv_head, const float *query);
    // The second: from the sketches of these, which have one.
    void look_at(const KeyIndex &index, std::span<const uint32_t> blocks);

    uint32_t heads() const noexcept { return heads_; } // query heads of the KV head
    uint32_t blocks() const noexcept { return blocks_; }
    bool looked_at(uint32_t block) const noexcept { return looked_at_[block] != 0; }
    // The block's mass is at most this; infinity: nothing is known.
    float upper(uint32_t head, uint32_t block) const noexcept { return upper_[at(head, block)]; }
    // Of those looked at: what the sketch says, within error() on either side.
    float middle(uint32_t head, uint32_t block) const noexcept { return middle_[at(head, block)]; }
    // Score of the block's mean key, plus the logarithm of its tokens: what a uniform block would weigh.
    float pooled(uint32_t head, uint32_t block) const noexcept { return pooled_[at(head, block)]; }
    // The same as arrays: 16 * tiles() numbers a head, one head after the other.
    const float *uppers(uint32_t head = 0) const noexcept { return &upper_[at(head, 0)]; }
    const float *pooleds() const noexcept { return pooled_.data(); }
    size_t padded() const noexcept { return padded_; }
    // How far fp32 may be from any score of this head, in the index or in the kernels of attention.
    float rounding(uint32_t head) const noexcept { return rounding_[head]; }

private:
    size_t at(uint32_t head, uint32_t block) const noexcept { return size_t{head} * padded_ + block; }

    uint32_t kv_head_ = 0, heads_ = 0, blocks_ = 0, padded_ = 0;
    const float *query_ = nullptr;
    std::vector<float> scaled_, upper_, middle_, pooled_, rounding_, result_;
    std::vector<uint8_t> looked_at_;
    std::vector<kernels::device::kv_block> table_;
};

} // namespace hbf::kv
