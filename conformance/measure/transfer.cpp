// SPDX-License-Identifier: Apache-2.0
#include "conformance/measure/transfer.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace hbf::measure {

Transfer::Transfer(Target &target, const Buffer &src, const Buffer &dst, const Buffer &staging, uint64_t bytes,
                   const BatchPlan &plan, uint32_t depth, uint32_t seed)
    : target_(target), data_(target, staging), src_(src), dst_(dst), bytes_(bytes), plan_(plan), depth_(std::max(1u, depth)),
      seed_(seed) {
    for (uint64_t at = 0; at < bytes; at += plan.op_size) {
        moves_.push_back({dst.region, at, src.region, at, std::min(plan.op_size, bytes - at)});
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

Result<Sample> Transfer::sample() {
    if (auto ready = refresh(); !ready) return tl::unexpected(ready.error());
    auto out = timed(passes_);
    if (!out) return out;
    auto checked = data_.check(dst_, key(false), 0, bytes_);
    if (!checked) return tl::unexpected(checked.error());
    out->mismatch = std::move(*checked);
    return out;
}

Result<std::optional<Mismatch>> Transfer::latencies(uint64_t size, double seconds, size_t most, Histogram &out) {
    if (auto ready = refresh(); !ready) return tl::unexpected(ready.error());
    std::vector<uint64_t> order(std::max<uint64_t>(1, bytes_ / size));
    size = std::min(size, bytes_);
    std::iota(order.begin(), order.end(), uint64_t{0});
    std::mt19937_64 random(seed_); // the same order for the same seed
    std::shuffle(order.begin(), order.end(), random);
    if (order.size() > most) order.resize(most);
    size_t ran = 0;
    const auto start = Clock::now();
    for (auto granule : order) {
        const Move move{dst_.region, granule * size, src_.region, granule * size, size};
        const auto begin = Clock::now();
        auto value = target_.submit({&move, 1});
        if (!value) return tl::unexpected(value.error());
        if (auto done = target_.wait(*value); !done) return tl::unexpected(done.error());
        const auto end = Clock::now();
        out.record(static_cast<uint64_t>(std::chrono::nanoseconds(end - begin).count()));
        ++ran;
        if (seconds_between(start, end) > seconds) break;
    }
    for (size_t i = 0; i < ran; ++i) {
        auto checked = data_.check(dst_, key(false), order[i] * size, size);
        if (!checked || *checked) return checked;
    }
    return std::optional<Mismatch>{};
}

} // namespace hbf::measure
