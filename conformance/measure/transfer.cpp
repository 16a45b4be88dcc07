// SPDX-License-Identifier: Apache-2.0
#include "conformance/measure/transfer.hpp"

#include <algorithm>

#include "conformance/measure/shuffle.hpp"

namespace hbf::measure {

Transfer::Transfer(Target &target, const Buffer &src, const Buffer &dst, const Buffer &staging, uint64_t bytes,
                   const BatchPlan &plan, uint32_t depth, uint32_t seed, Order order)
    : target_(target), data_(target, staging), src_(src), dst_(dst), bytes_(bytes), plan_(plan), depth_(std::max(1u, depth)),
      seed_(seed), order_(order) {
    if (order != Order::in_place) bytes_ -= bytes_ % plan.op_size; // blocks of one size, so that any can stand for another
    const auto block = shuffled(bytes_ / plan.op_size, seed);
    for (uint64_t at = 0, i = 0; at < bytes_; at += plan.op_size, ++i) {
        const uint64_t from = order == Order::gather ? block[i] * plan.op_size : at;
        const uint64_t to = order == Order::scatter ? block[i] * plan.op_size : at;
        moves_.push_back({dst.region, to, src.region, from, std::min(plan.op_size, bytes_ - at)});
    }
    values_.reserve(plan.batches);
}

Result<> Transfer::refresh() {
    ++generation_;
    if (auto written = data_.write(src_, key(false), bytes_); !written) return written;
    return data_.write(dst_, key(true), bytes_);
}

Result<Sample> Transfer::timed(uint32_t passes) {
    Sample out;
    out.generation = generation_;
    values_.clear();
    const std::span<const Move> moves(moves_);
    target_.close_gate();
    const auto begin = Clock::now();
    bool held = true; // while every batch fits into the queue, the gate holds them all
    for (uint64_t first = 0, left = passes; left > 0;) {
        if (values_.size() >= depth_) {
            if (held) target_.open_gate();
            held = false;
            if (auto done = target_.wait(values_[values_.size() - depth_]); !done) return tl::unexpected(done.error());
        }
        auto value = target_.submit(moves.subspan(first, std::min<uint64_t>(plan_.batch_ops, moves.size() - first)));
        if (!value) return tl::unexpected(value.error());
        values_.push_back(*value);
        first += plan_.batch_ops;
        if (first >= moves.size()) first = 0, --left;
    }
    const auto submitted = Clock::now();
    const auto opened = held ? target_.open_gate() : std::nullopt;
    for (auto value : values_) {
        if (auto done = target_.wait(value); !done) return tl::unexpected(done.error());
    }
    const auto end = Clock::now();
    out.gated = opened.has_value();
    const double submitting = seconds_between(begin, submitted);
    out.queue_seconds = seconds_between(opened.value_or(begin), end);
    out.wall_seconds = out.queue_seconds + (out.gated ? submitting : 0);
    return out;
}

Result<double> Transfer::pass() {
    if (generation_ == 0) {
        if (auto ready = refresh(); !ready) return tl::unexpected(ready.error());
    }
    return timed(1).map([](const Sample &s) { return s.wall_seconds; });
}

Result<> Transfer::prepare_sample() {
    return refresh();
}

Result<Sample> Transfer::time_sample() {
    return timed(passes_);
}

Result<> Transfer::check_sample(Sample &sample) {
    auto checked = order_ == Order::in_place ? data_.check(dst_, key(false), 0, bytes_) : check_moves(moves_);
    if (!checked) return tl::unexpected(checked.error());
    sample.mismatch = std::move(*checked);
    return {};
}

Result<Sample> Transfer::sample() {
    if (auto ready = prepare_sample(); !ready) return tl::unexpected(ready.error());
    auto out = time_sample();
    if (!out) return out;
    if (auto checked = check_sample(*out); !checked) return tl::unexpected(checked.error());
    return out;
}

Result<std::optional<Mismatch>> Transfer::check_moves(std::span<const Move> moves) {
    for (const auto &move : moves) {
        auto checked = data_.check(dst_, key(false), move.dst_offset, move.size, move.src_offset);
        if (!checked || *checked) return checked;
    }
    return std::optional<Mismatch>{};
}

} // namespace hbf::measure
