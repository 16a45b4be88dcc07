// SPDX-License-Identifier: Apache-2.0
// One transfer, src -> executor -> dst, run again and again: prepare, gate, time, check.
#pragma once

#include <algorithm>
#include <vector>

#include "conformance/measure/data.hpp"
#include "conformance/measure/latency.hpp"
#include "conformance/measure/plan.hpp"

namespace hbf::measure {

// Bytes are copied bytes, counted once.
struct Sample {
    double queue_seconds = 0; // from the gate's opening to completion after the drain; without a gate as wall_seconds
    double wall_seconds = 0;  // from the first submit to completion; time spent behind a closed gate is not counted
    bool gated = false;
    uint32_t generation = 0;
    std::optional<Mismatch> mismatch;
};

// Where an operation's bytes come from and go to. The list of blocks of a key-value cache is gathered or scattered.
enum class Order : uint8_t {
    in_place, // from an offset of the source to the same offset of the destination, ascending
    gather,   // from random blocks of the source to ascending ones of the destination
    scatter,  // from ascending blocks of the source to random ones of the destination
};

class Transfer {
public:
    Transfer(Target &target, const Buffer &src, const Buffer &dst, const Buffer &staging, uint64_t bytes,
             const BatchPlan &plan, uint32_t depth, uint32_t seed, Order order = Order::in_place, Work work = Work::copy);

    Result<double> pass();   // for warm-up: moves all once, unchecked; seconds taken
    Result<Sample> sample(); // fresh data, poisoned destination, timed copies, whole destination checked

    // A sample in its three steps, for transfers that run at the same time: only time_sample() does.
    Result<> prepare_sample();
    Result<Sample> time_sample();
    Result<> check_sample(Sample &sample);

    // Copies of one granule, each timed from submit until its bytes can be read. Checked as a sample is.
    Result<std::optional<Mismatch>> latencies(const LatencyPlan &plan, Latency &out);

    // Times a sample moves all bytes; what a kernel reads at most as often as its findings can be kept.
    void set_passes(uint32_t passes) {
        passes_ =
            work_ == Work::kernel_read ? std::clamp(most_reads / static_cast<uint32_t>(moves_.size()), 1u, passes) : passes;
    }
    uint64_t sample_bytes() const { return bytes_ * passes_; }
    uint64_t bytes() const { return bytes_; }
    const Buffer &src() const { return src_; }
    const Buffer &dst() const { return dst_; }

private:
    Result<> refresh(); // next generation in the source, its complement in the destination
    Result<Sample> timed(uint32_t passes);
    kernels::PatternKey key(bool poison) const { return {seed_, generation_, poison}; }

    Result<> check_read(Sample &sample);
    Result<std::optional<Mismatch>> check_moves(std::span<const Move> moves);

    Target &target_;
    DataPath data_;
    Buffer src_, dst_;
    uint64_t bytes_;
    BatchPlan plan_;
    uint32_t depth_, seed_, generation_ = 0, passes_ = 1;
    Order order_;
    Work work_;
    std::vector<Move> moves_;
    std::vector<uint64_t> values_;
};

} // namespace hbf::measure
