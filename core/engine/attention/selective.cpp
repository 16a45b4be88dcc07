// SPDX-License-Identifier: Apache-2.0
#include "core/engine/attention/selective.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "core/common/guarded.hpp"
#include "kernels/host/attention/attention.hpp"

namespace hbf::kv {

struct SelectiveAttention::Call {
    const Selection &selection;
    const KeyIndex &index;
    std::span<AttendPlace *const> places;
    std::span<const Block> blocks;
    kv_shape shape; // of one KV head
    uint32_t kv_head;
    const float *query; // of its query heads
    float *output;
    uint64_t head_size() const { return kernels::device::kv_block_size(shape); }
};

namespace {

constexpr double spare = 0.9; // of a target: the rest is for what fp32 rounds, which a certificate counts too

Result<> check_call(const KeyIndex &index, std::span<const Block> blocks) {
    if (index.blocks() != blocks.size())
        return fail(Code::invalid,
                    fmt::format("there are {} blocks, and the index knows {}", blocks.size(), index.blocks()));
    for (uint32_t i = 0; i < index.blocks(); ++i)
        if (index.tokens(i) != blocks[i].at.tokens)
            return fail(Code::invalid,
                        fmt::format("block {} has {} tokens, and {} in the index", i, blocks[i].at.tokens, index.tokens(i)));
    return {};
}

} // namespace

Result<> SelectiveAttention::attend(const Selection &selection, const KeyIndex &index, std::span<AttendPlace *const> places,
                                    std::span<const Block> blocks, const float *query, float *output) {
    return guarded([&] { return attend_heads(selection, index, places, blocks, query, output); });
}

Result<> SelectiveAttention::attend_heads(const Selection &selection, const KeyIndex &index,
                                          std::span<AttendPlace *const> places, std::span<const Block> blocks,
                                          const float *query, float *output) {
    report_ = {};
    const kv_shape &shape = index.shape().kv;
    if (auto checked = check_selection(selection); !checked) return checked;
    if (auto counted = count_tokens(places, shape, blocks); !counted) return tl::unexpected(counted.error());
    if (auto checked = check_call(index, blocks); !checked) return checked;
    shared_ = shape.query_heads / shape.kv_heads, head_dim_ = shape.head_dim;
    const size_t states = size_t{shared_} * 2, numbers = size_t{shared_} * head_dim_;
    state_.resize(2 * states), output_.resize(2 * numbers);
    merged_state_.resize(states), merged_output_.resize(numbers);
    known_.resize(shared_), certificates_.assign(shape.query_heads, {});
    all_.resize(blocks.size());
    std::iota(all_.begin(), all_.end(), 0u);
    kv_shape of_head = shape;
    of_head.query_heads = shared_, of_head.kv_heads = 1;
    report_.blocks = blocks.size() * shape.kv_heads;
    report_.bytes_of_all_blocks = blocks.size() * kernels::device::kv_block_size(shape);
    for (uint32_t head = 0; head < shape.kv_heads; ++head) {
        const Call call{selection, index, places, blocks, of_head, head, query + head * numbers, output + head * numbers};
        if (auto done = attend_head(call); !done) return done;
    }
    return {};
}

Result<> SelectiveAttention::attend_head(const Call &call) {
    is_first_ = true;
    auto chosen = chooser_.choose(call.selection, call.index, call.kv_head, call.query);
    uint32_t rounds = 0;
    const auto limit = static_cast<uint64_t>(call.selection.give_up * static_cast<double>(call.blocks.size()));
    const bool certified = call.selection.target > 0;
    bool all = false;
    for (;; ++rounds) {
        if (auto done = attend_blocks(call, chosen); !done) return done;
        if (!certified || certify_heads(call) <= call.selection.target) break;
        const bool countable = std::all_of(known_.begin(), known_.end(), [](double mass) { return std::isfinite(mass); });
        if (countable) chosen = chooser_.choose_more(call.index, call.selection.target * spare, known_);
        // A closer look may have been all that it took.
        if (countable && chosen.empty() && certify_heads(call) <= call.selection.target) break;
        if ((all = !countable || chosen.empty() || chooser_.chosen() > limit)) break;
    }
    report_.rounds = std::max(report_.rounds, rounds + 1);
    report_.looked_at += chooser_.looked_at();
    report_.bytes_of_summaries += call.index.bytes_scored();
    sketch_shape of_head = call.index.shape();
    of_head.kv = call.shape;
    report_.bytes_of_sketches += chooser_.looked_at() * kernels::device::sketch_block_size(of_head);
    if (all)
        if (auto done = attend_all(call); !done) return done;
    if (!certified || all) (void)certify_heads(call);
    for (uint32_t head = 0; head < shared_; ++head) {
        const Certificate &certificate = certificates_[call.kv_head * shared_ + head];
        report_.missed = std::max(report_.missed, certificate.missed);
        report_.error = std::max(report_.error, certificate.error);
    }
    finish_head(call);
    return {};
}

void SelectiveAttention::pick(const Call &call, std::span<const uint32_t> chosen) {
    picked_.clear();
    for (const uint32_t block : chosen) {
        const Block &whole = call.blocks[block];
        picked_.push_back({{whole.at.offset + call.kv_head * call.head_size(), whole.at.tokens, 0}, whole.place});
    }
    report_.attended += chosen.size();
    report_.bytes_of_blocks += chosen.size() * call.head_size();
}

Result<> SelectiveAttention::attend_blocks(const Call &call, std::span<const uint32_t> chosen) {
    pick(call, chosen);
    fold_.begin(shared_, head_dim_, picked_.size());
    if (auto done = runner_.run(call.places, call.shape, call.query, picked_, fold_); !done) return done;
    const size_t slot = is_first_ ? 0 : 1;
    fold_.finish(&state_[slot * shared_ * 2], &output_[slot * shared_ * head_dim_]);
    if (!is_first_) add_round();
    is_first_ = false;
    for (uint32_t head = 0; head < shared_; ++head)
        known_[head] = static_cast<double>(state_[2 * head]) + std::log(static_cast<double>(state_[2 * head + 1]));
    return {};
}

void SelectiveAttention::add_round() {
    kernels::attention_merge(state_.data(), output_.data(), merged_state_.data(), merged_output_.data(),
                             {2, shared_, head_dim_, 0});
    std::copy(merged_state_.begin(), merged_state_.end(), state_.begin());
    std::copy(merged_output_.begin(), merged_output_.end(), output_.begin());
}

Result<> SelectiveAttention::attend_all(const Call &call) {
    ++report_.exact_heads;
    is_first_ = true;
    chooser_.take_all();
    return attend_blocks(call, all_);
}

// Fills this KV head's certificates; the largest share missed.
double SelectiveAttention::certify_heads(const Call &call) {
    double missed = 0;
    const double norm_left_out = chooser_.value_norm_left_out(call.index),
                 norm_attended = static_cast<double>(call.index.largest_value_norm(call.kv_head));
    for (uint32_t head = 0; head < shared_; ++head) {
        double square = 0;
        for (uint32_t i = 0; i < head_dim_; ++i) {
            const double number =
                static_cast<double>(output_[head * head_dim_ + i]) / static_cast<double>(state_[2 * head + 1]);
            square += number * number;
        }
        Certificate &certificate = certificates_[call.kv_head * shared_ + head];
        certificate = certify({chooser_.left_out(head, known_[head]), norm_left_out, norm_attended, std::sqrt(square),
                               static_cast<double>(chooser_.estimate().rounding(head)), call.shape.block_tokens});
        missed = std::max(missed, certificate.missed);
    }
    return missed;
}

void SelectiveAttention::finish_head(const Call &call) {
    std::copy_n(output_.begin(), size_t{shared_} * head_dim_, call.output);
    kernels::attention_finish(state_.data(), call.output, shared_, head_dim_);
}

} // namespace hbf::kv
