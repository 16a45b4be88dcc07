// SPDX-License-Identifier: Apache-2.0
// Puts partial results of blocks together, in a fixed order: a tree whose nodes merge `fan` neighbours from left to right
// (kernels/device/attention_merge.h). What comes out depends on the partial results and their number, and on nothing else;
// a million tokens in blocks of 16 are 65,536 blocks, but no sum has more than 5 * 16 terms.
#pragma once

#include <cstdint>
#include <vector>

namespace hbf::kv {

class Fold {
public:
    static constexpr uint32_t fan = 16;

    // Makes room: for so many rows (query heads, of one token or of several) of head_dim numbers, over so many blocks.
    // Allocates if there was less so far, else nothing does.
    void begin(uint32_t rows, uint32_t head_dim, uint64_t blocks);

    // Where the next blocks' partial results belong, block after block, and for how many there is room at once.
    uint32_t room() const noexcept { return fan - used_[0]; }
    float *state() noexcept;
    float *output() noexcept;
    void add(uint32_t blocks) noexcept; // so many, at most room(), are there now

    // m, l and o of the whole.
    void finish(float *state, float *output) noexcept;

private:
    float *state_of(uint32_t level) noexcept;
    float *output_of(uint32_t level) noexcept;
    void merge(uint32_t level, float *state, float *output) noexcept;

    uint32_t rows_ = 0, head_dim_ = 0, levels_ = 1;
    uint32_t used_[16] = {}; // slots of each level
    std::vector<float> memory_;
};

} // namespace hbf::kv
