// SPDX-License-Identifier: Apache-2.0
// One transfer, src -> executor -> dst, run again and again: prepare, gate, time, check.
#pragma once

#include <vector>

#include "conformance/measure/data.hpp"
#include "conformance/measure/histogram.hpp"
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

class Transfer {
public:
    Transfer(Target &target, const Buffer &src, const Buffer &dst, const Buffer &staging, uint64_t bytes,
             const BatchPlan &plan, uint32_t depth, uint32_t seed);

    Result<double> pass();   // for warm-up: moves all once, unchecked; seconds taken
    Result<Sample> sample(); // fresh data, poisoned destination, timed copies, whole destination checked

    // Closed loop, one operation of `size` in flight, random granules: submit to completion. Checked as a sample is.
    Result<std::optional<Mismatch>> latencies(uint64_t size, double seconds, size_t most, Histogram &out);

    void set_passes(uint32_t passes) { passes_ = passes; } // times a sample moves all bytes
    uint64_t sample_bytes() const { return bytes_ * passes_; }
    uint64_t bytes() const { return bytes_; }
    const Buffer &src() const { return src_; }
    const Buffer &dst() const { return dst_; }

private:
    Result<> refresh(); // next generation in the source, its complement in the destination
    Result<Sample> timed(uint32_t passes);
    kernels::PatternKey key(bool poison) const { return {seed_, generation_, poison}; }

    Target &target_;
    DataPath data_;
    Buffer src_, dst_;
    uint64_t bytes_;
    BatchPlan plan_;
    uint32_t depth_, seed_, generation_ = 0, passes_ = 1;
    std::vector<Move> moves_;
    std::vector<uint64_t> values_;
};

} // namespace hbf::measure
