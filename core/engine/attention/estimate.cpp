// SPDX-License-Identifier: Apache-2.0
#include "core/engine/attention/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/engine/attention/summary_score.hpp"
#include "kernels/host/attention/sketch.hpp"

namespace hbf::kv {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

} // namespace

void Estimate::summarise(const KeyIndex &index, uint32_t kv_head, const float *query) {
    const auto &kv = index.shape().kv;
    const uint32_t dim = kv.head_dim;
    kv_head_ = kv_head, query_ = query, heads_ = kv.query_heads / kv.kv_heads;
    blocks_ = index.blocks(), padded_ = index.tiles() * summary_tile;
    scaled_.resize(size_t{heads_} * dim), rounding_.resize(heads_), looked_at_.assign(blocks_, 0);
    if (upper_.size() < size_t{heads_} * padded_)
        upper_.resize(size_t{heads_} * padded_), middle_.resize(upper_.size()), pooled_.resize(upper_.size());
    const float *const magnitude = index.magnitude(kv_head);
    for (uint32_t head = 0; head < heads_; ++head) {
        float sum = 0;
        for (uint32_t i = 0; i < dim; ++i) {
            float &scaled = scaled_[head * dim + i];
            scaled = query[head * dim + i] * kv.scale;
            sum += std::fabs(scaled) * magnitude[i];
        }
        // Covers every order of the additions, the rounding of the products, and that of this sum.
        const float rounding = static_cast<float>(2 * dim + 64) * 0x1p-23f * sum + 0x1p-16f;
        rounding_[head] = rounding < infinity ? rounding : infinity;
    }
    index.score(kv_head, scaled_.data(), heads_, rounding_.data(), upper_.data(), pooled_.data(), padded_);
}

void Estimate::look_at(const KeyIndex &index, std::span<const uint32_t> blocks) {
    sketch_shape shape = index.shape();
    const uint64_t size = kernels::device::sketch_block_size(shape), of_head = kernels::device::sketch_head_size(shape);
    shape.kv.query_heads = heads_, shape.kv.kv_heads = 1;
    table_.clear();
    for (const uint32_t block : blocks) table_.push_back({block * size + kv_head_ * of_head, index.tokens(block), 0});
    if (result_.size() < blocks.size() * heads_ * 3) result_.resize(blocks.size() * heads_ * 3);
    // One after the other, the next but one on its way from memory: they lie far apart.
    constexpr size_t ahead = 2, line = 64;
    for (size_t i = 0; i < blocks.size() + ahead; ++i) {
        if (i < blocks.size())
            for (uint64_t at = 0; at < of_head; at += line) __builtin_prefetch(index.sketches() + table_[i].offset + at);
        if (i < ahead) continue;
        kernels::sketch_score({index.sketches(), &table_[i - ahead], query_, &result_[(i - ahead) * heads_ * 3]},
                              {index.sketches_size(), shape, 1, 0});
    }
    const float *result = result_.data();
    for (const uint32_t block : blocks) {
        looked_at_[block] = 1;
        for (uint32_t head = 0; head < heads_; ++head, result += 3) {
            const float mass = result[0] + std::log(result[1]), most = mass + result[2] + 0x1p-16f;
            middle_[at(head, block)] = mass;
            float &upper = upper_[at(head, block)];
            upper = most < upper ? most : upper;
        }
    }
}

} // namespace hbf::kv
