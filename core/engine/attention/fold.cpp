// SPDX-License-Identifier: Apache-2.0
#include "core/engine/attention/fold.hpp"

#include <algorithm>

#include "kernels/host/attention/attention.hpp"

namespace hbf::kv {
namespace {

size_t state_numbers(uint32_t rows) {
    return size_t{Fold::fan} * rows * 2;
}
size_t output_numbers(uint32_t rows, uint32_t head_dim) {
    return size_t{Fold::fan} * rows * head_dim;
}

} // namespace

void Fold::begin(uint32_t rows, uint32_t head_dim, uint64_t blocks) {
    rows_ = rows, head_dim_ = head_dim, levels_ = 1;
    for (uint64_t left = blocks; left > fan; left = (left + fan - 1) / fan) ++levels_;
    std::fill(std::begin(used_), std::end(used_), 0);
    const size_t numbers = levels_ * (state_numbers(rows) + output_numbers(rows, head_dim));
    if (memory_.size() < numbers) memory_.resize(numbers);
}

float *Fold::state_of(uint32_t level) noexcept {
    return memory_.data() + level * (state_numbers(rows_) + output_numbers(rows_, head_dim_));
}
float *Fold::output_of(uint32_t level) noexcept {
    return state_of(level) + state_numbers(rows_);
}
float *Fold::state() noexcept {
    return state_of(0) + size_t{used_[0]} * rows_ * 2;
}
float *Fold::output() noexcept {
    return output_of(0) + size_t{used_[0]} * rows_ * head_dim_;
}

void Fold::merge(uint32_t level, float *state, float *output) noexcept {
    kernels::attention_merge(state_of(level), output_of(level), state, output, {used_[level], rows_, head_dim_, 0});
    used_[level] = 0;
}

void Fold::add(uint32_t blocks) noexcept {
    used_[0] += blocks;
    for (uint32_t level = 0; level + 1 < levels_ && used_[level] == fan; ++level) {
        const size_t slot = used_[level + 1]++;
        merge(level, state_of(level + 1) + slot * rows_ * 2, output_of(level + 1) + slot * rows_ * head_dim_);
    }
}

void Fold::finish(float *state, float *output) noexcept {
    for (uint32_t level = 0; level + 1 < levels_; ++level) {
        if (used_[level] == 0) continue;
        const size_t slot = used_[level + 1]++;
        merge(level, state_of(level + 1) + slot * rows_ * 2, output_of(level + 1) + slot * rows_ * head_dim_);
    }
    merge(levels_ - 1, state, output);
}

} // namespace hbf::kv
