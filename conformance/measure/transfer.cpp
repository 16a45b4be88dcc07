// SPDX-License-Identifier: Apache-2.0
#include "conformance/measure/transfer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "conformance/measure/shuffle.hpp"

namespace hbf::measure {
namespace {

// Of a second input: as far from the first as the buffer allows, so that no cache serves both.
uint64_t half_away(uint64_t offset, uint64_t size, uint64_t bytes) {
    const uint64_t half = bytes / 2 / 8 * 8;
    return offset >= half ? offset - half : std::min(offset + half, (bytes - size) / 8 * 8);
}

} // namespace

Transfer::Transfer(Target &target, const Buffer &src, const Buffer &dst, const Buffer &staging, uint64_t bytes,
                   const BatchPlan &plan, uint32_t depth, uint32_t seed, Order order, Work work)
    : target_(target), data_(target, staging), src_(src), dst_(dst), bytes_(bytes), plan_(plan), depth_(std::max(1u, depth)),
      seed_(seed), order_(order), work_(work) {
    if (work != Work::copy) bytes_ -= bytes_ % 8;
    if (order != Order::in_place) bytes_ -= bytes_ % plan.op_size; // blocks of one size, so that any can stand for another
    const auto block = shuffled(bytes_ / plan.op_size, seed);
    for (uint64_t at = 0, i = 0; at < bytes_; at += plan.op_size, ++i) {
        const uint64_t from = order == Order::gather ? block[i] * plan.op_size : at;
        const uint64_t to = order == Order::scatter ? block[i] * plan.op_size : at;
        const uint64_t size = std::min(plan.op_size, bytes_ - at);
        moves_.push_back({dst.region, to, src.region, from, size, work, half_away(from, size, bytes_), {}});
    }
    values_.reserve(plan.batches);
}

Result<> Transfer::refresh() {
    ++generation_;
    if (auto written = data_.write(src_, key(false), bytes_); !written) return written;
    if (work_ == Work::kernel_read) {
        for (auto &move : moves_) move.key = key(false);
        if (auto earlier = target_.take_findings(); !earlier) return tl::unexpected(earlier.error());
        return {};
    }
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
    if (work_ == Work::kernel_read) // of earlier passes, which nobody asks for
        if (auto earlier = target_.take_findings(); !earlier) return tl::unexpected(earlier.error());
    return timed(1).map([](const Sample &s) { return s.wall_seconds; });
}

Result<> Transfer::prepare_sample() {
    return refresh();
}

Result<Sample> Transfer::time_sample() {
    return timed(passes_);
}

// The kernel's word for it, which counts only if it has looked at every word of every pass.
Result<> Transfer::check_read(Sample &sample) {
    const auto found = target_.take_findings();
    if (!found) return tl::unexpected(found.error());
    if (found->checked_words != sample_bytes() / 8)
        return fail(Code::internal, fmt::format("the kernel says that it looked at {} words; they were {}",
                                                found->checked_words, sample_bytes() / 8));
    if (found->wrong_words == 0) return {};
    Mismatch wrong;
    wrong.offset = found->first_offset;
    const bool low = static_cast<uint32_t>(found->expected) != static_cast<uint32_t>(found->actual);
    wrong.offset += low ? 0 : 4;
    wrong.expected = static_cast<uint32_t>(low ? found->expected : found->expected >> 32);
    wrong.actual = static_cast<uint32_t>(low ? found->actual : found->actual >> 32);
    wrong.wrong_words = found->wrong_words;
    wrong.checked_words = found->checked_words;
    wrong.guess = guess_cause(key(false), src_.size, wrong.offset, wrong.expected, wrong.actual);
    sample.mismatch = wrong;
    return {};
}

Result<> Transfer::check_sample(Sample &sample) {
    if (work_ == Work::kernel_read) return check_read(sample);
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
