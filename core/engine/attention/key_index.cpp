// SPDX-License-Identifier: Apache-2.0
#include "core/engine/attention/key_index.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "core/common/guarded.hpp"
#include "core/engine/attention/summary_score.hpp"
#include "kernels/host/attention/attention.hpp"
#include "kernels/host/attention/sketch.hpp"

namespace hbf::kv {
namespace {

enum Kind : uint32_t { smallest = 0, largest = 1, mean = 2, kinds = 3 };
constexpr float infinity = std::numeric_limits<float>::infinity();

// To nearest; only for means, which nobody relies on, and for numbers that were stored like this before.
uint32_t to_stored(float value, uint32_t element) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    if (element == HBF_ELEMENT_FP32) return bits;
    if (element == HBF_ELEMENT_BF16) return std::isnan(value) ? 0x7fc0u : (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
    const uint32_t sign = bits >> 16 & 0x8000u;
    const float magnitude = std::fabs(value);
    if (std::isnan(value)) return 0x7e00u;
    if (magnitude >= 65520.0f) return sign | 0x7c00u;
    if (magnitude < 0x1p-14f) return sign | static_cast<uint32_t>(std::nearbyint(magnitude * 0x1p24f));
    bits &= 0x7fffffffu;
    return sign | ((bits + 0xfffu + (bits >> 13 & 1) - (112u << 23)) >> 13);
}

// Not below the true one.
float logarithm(uint32_t tokens) {
    return tokens == 0 ? -infinity : std::nextafter(static_cast<float>(std::log(static_cast<double>(tokens))), infinity);
}

} // namespace

KeyIndex::KeyIndex(const sketch_shape &shape)
    : shape_(shape), magnitude_(size_t{shape.kv.kv_heads} * shape.kv.head_dim, 0.0f),
      largest_norm_(shape.kv.kv_heads, 0.0f) {}

Result<KeyIndex> KeyIndex::make(const sketch_shape &shape) {
    if (const char *reason = kernels::sketch_refused(shape)) return fail(Code::invalid, reason);
    return guarded([&]() -> Result<KeyIndex> { return KeyIndex(shape); });
}

size_t KeyIndex::number(uint32_t block, uint32_t kv_head, uint32_t kind, uint32_t channel) const noexcept {
    const size_t tile = (size_t{block / summary_tile} * shape_.kv.kv_heads + kv_head) * kinds + kind;
    return (tile * shape_.kv.head_dim + channel) * summary_tile + block % summary_tile;
}
float KeyIndex::load(size_t number) const noexcept {
    return kernels::device::hbf_load_element(summaries_.data(), shape_.kv.element, number);
}
void KeyIndex::store(size_t number, float value) noexcept {
    const uint32_t word = to_stored(value, shape_.kv.element), size = kernels::device::hbf_element_size(shape_.kv.element);
    std::memcpy(summaries_.data() + number * size, &word, size); // little-endian, as all we run on
}

void KeyIndex::score(uint32_t kv_head, const float *query, uint32_t heads, const float *rounding, float *upper,
                     float *pooled, size_t stride) const noexcept {
    const size_t tile =
        size_t{kinds} * shape_.kv.head_dim * summary_tile * kernels::device::hbf_element_size(shape_.kv.element);
    summary_score(
        {summaries_.data() + kv_head * tile, shape_.kv.kv_heads * tile, tiles(), shape_.kv.head_dim, shape_.kv.element},
        {query, heads, rounding, log_tokens_.data()}, upper, pooled, stride);
}
uint64_t KeyIndex::bytes_scored() const noexcept {
    return summaries_.size() / shape_.kv.kv_heads;
}

Result<> KeyIndex::add_tokens(uint32_t block, const void *bytes, uint32_t first, uint32_t count, uint32_t capacity) {
    const bool is_new = block == blocks() && first == 0, goes_on = block < blocks() && tokens_[block] == first;
    if (!is_new && !goes_on)
        return fail(Code::invalid, fmt::format("tokens {} and on of block {}: there are {} blocks, and they come in order",
                                               first, block, blocks()));
    Added added{block, static_cast<const uint8_t *>(bytes), first, count, shape_.kv};
    if (capacity != 0) added.shape.block_tokens = capacity;
    if (const char *reason = kernels::attention_refused(added.shape)) return fail(Code::invalid, reason);
    if (first > added.shape.block_tokens || count > added.shape.block_tokens - first)
        return fail(Code::invalid,
                    fmt::format("{} tokens: a block has room for {}", uint64_t{first} + count, added.shape.block_tokens));
    if (is_new)
        if (auto made = guarded([&]() -> Result<> {
                resize(block + 1);
                return {};
            });
            !made) {
            resize(block); // smaller: that needs no memory
            return made;
        }
    for (uint32_t head = 0; head < shape_.kv.kv_heads; ++head) {
        for (uint32_t channel = 0; channel < shape_.kv.head_dim; ++channel) add_channel(added, head, channel);
        add_values(added, head);
    }
    tokens_[block] = first + count;
    log_tokens_[block] = logarithm(first + count);
    without_sketch_ += sketched_[block];
    sketched_[block] = 0; // it was of fewer tokens
    return {};
}

void KeyIndex::add_channel(const Added &added, uint32_t kv_head, uint32_t channel) {
    const auto &[block, bytes, first, count, shape] = added;
    const size_t low_at = number(block, kv_head, smallest, channel), high_at = number(block, kv_head, largest, channel),
                 mean_at = number(block, kv_head, mean, channel);
    float low = first ? load(low_at) : infinity, high = first ? load(high_at) : -infinity;
    double sum = first ? static_cast<double>(load(mean_at)) * first : 0;
    float &most = magnitude_[size_t{kv_head} * shape_.kv.head_dim + channel];
    for (uint32_t token = first; token < first + count; ++token) {
        const float key = kernels::device::hbf_load_element(bytes, shape.element,
                                                            kernels::device::kv_key_index(shape, kv_head, token, channel));
        if (!std::isfinite(key))
            low = -infinity, high = infinity; // anything is possible
        else
            low = std::min(low, key), high = std::max(high, key), sum += static_cast<double>(key),
            most = std::max(most, std::fabs(key));
    }
    store(low_at, low), store(high_at, high);
    store(mean_at, first + count ? static_cast<float>(sum / (first + count)) : 0.0f);
}

void KeyIndex::add_values(const Added &added, uint32_t kv_head) {
    const auto &[block, bytes, first, count, shape] = added;
    float &norm = value_norm_[size_t{block} * shape_.kv.kv_heads + kv_head];
    if (first == 0) norm = 0;
    for (uint32_t token = first; token < first + count; ++token) {
        double sum = 0;
        for (uint32_t channel = 0; channel < shape_.kv.head_dim; ++channel) {
            const auto value = static_cast<double>(kernels::device::hbf_load_element(
                bytes, shape.element, kernels::device::kv_value_index(shape, kv_head, token, channel)));
            sum += value * value;
        }
        const float found = std::isfinite(sum) ? std::nextafter(static_cast<float>(std::sqrt(sum)), infinity) : infinity;
        norm = std::max(norm, found);
    }
    largest_norm_[kv_head] = std::max(largest_norm_[kv_head], norm);
}

Result<> KeyIndex::add_sketch(uint32_t block, const void *bytes) {
    if (block >= blocks())
        return fail(Code::invalid, fmt::format("block {} has no tokens: there are {} blocks", block, blocks()));
    kernels::sketch_make(shape_, bytes, tokens_[block],
                         sketches_.data() + block * kernels::device::sketch_block_size(shape_));
    without_sketch_ -= 1u - sketched_[block];
    sketched_[block] = 1;
    return {};
}

void KeyIndex::truncate(uint32_t block) {
    if (block >= blocks()) return;
    resize(block);
    for (uint32_t head = 0; head < shape_.kv.kv_heads; ++head) {
        largest_norm_[head] = 0;
        for (uint32_t i = 0; i < block; ++i) largest_norm_[head] = std::max(largest_norm_[head], value_norm(i, head));
    }
}

void KeyIndex::resize(uint32_t blocks) {
    const size_t tile = size_t{kinds} * shape_.kv.head_dim * summary_tile *
                        kernels::device::hbf_element_size(shape_.kv.element) * shape_.kv.kv_heads;
    // An eighth more at a time: what a vector would take beyond that is more than all else that is kept of the blocks.
    const auto make = [](std::vector<uint8_t> &bytes, size_t size) {
        if (size > bytes.capacity()) bytes.reserve(size + size / 8);
        bytes.resize(size);
    };
    make(summaries_, (blocks + size_t{summary_tile} - 1) / summary_tile * tile);
    make(sketches_, blocks * kernels::device::sketch_block_size(shape_));
    value_norm_.resize(size_t{blocks} * shape_.kv.kv_heads);
    tokens_.resize(blocks);
    log_tokens_.resize(size_t{tiles()} * summary_tile);
    std::fill(log_tokens_.begin() + blocks, log_tokens_.end(), -infinity); // what is no block weighs nothing
    for (size_t gone = blocks; gone < sketched_.size(); ++gone) without_sketch_ -= 1u - sketched_[gone];
    const size_t before = std::min<size_t>(sketched_.size(), blocks);
    sketched_.resize(blocks); // last: none that was not counted is there
    without_sketch_ += blocks - static_cast<uint32_t>(before);
}

} // namespace hbf::kv
