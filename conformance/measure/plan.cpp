// SPDX-License-Identifier: Apache-2.0
#include "conformance/measure/plan.hpp"

#include <algorithm>

namespace hbf::measure {

void WarmUp::add(double pass_seconds) {
    passes_.push_back(pass_seconds);
    total_ += pass_seconds;
}

bool WarmUp::stable() const {
    constexpr size_t last = 5;
    if (passes_.size() < last) return false;
    auto [least, most] = std::minmax_element(passes_.end() - last, passes_.end());
    return *most - *least < 0.02 * *least;
}

bool WarmUp::done() const {
    if (passes_.size() < 2) return false;
    if (total_ >= give_up_) return true;
    return total_ >= 0.2 && stable();
}

StopRule::Reason StopRule::decide(size_t taken, double elapsed, std::optional<double> half_width) const {
    if (taken >= fewest && target_half_width) {
        if (half_width && *half_width <= *target_half_width) return Reason::target;
    } else if (taken >= samples) {
        return Reason::samples; // with a target the time decides, not the count
    }
    if (elapsed >= seconds && (taken >= std::min(fewest, samples) || elapsed >= 3 * seconds)) return Reason::time;
    return Reason::go_on;
}

const char *to_string(StopRule::Reason reason) {
    switch (reason) {
    case StopRule::Reason::go_on:
        break;
    case StopRule::Reason::samples:
        return "samples reached";
    case StopRule::Reason::target:
        return "interval narrow enough";
    case StopRule::Reason::time:
        return "time is up";
    }
    return "stopped";
}

BatchPlan plan_batches(uint64_t bytes, uint64_t op_size, uint32_t depth, uint32_t most_commands) {
    BatchPlan out;
    out.op_size = std::min(op_size, bytes);
    out.ops = (bytes + out.op_size - 1) / out.op_size;
    const auto even = (out.ops + depth - 1) / std::max(1u, depth);
    out.batch_ops = static_cast<uint32_t>(std::clamp<uint64_t>(even, 1, std::max(1u, most_commands)));
    out.batches = static_cast<uint32_t>((out.ops + out.batch_ops - 1) / out.batch_ops);
    return out;
}

uint32_t passes_needed(double pass_seconds, double clock_step_seconds) {
    // A single step of the clock is the error at either end: 1,000 of them are 0.2 %. A short sample is also hit harder by
    // one interrupt, so 20 ms are aimed at unless a pass is long enough by itself.
    if (pass_seconds >= 1000 * clock_step_seconds && pass_seconds >= 0.001) return 1;
    const double passes = 0.02 / std::max(pass_seconds, 1e-7);
    return static_cast<uint32_t>(std::clamp(passes, 1.0, 4096.0));
}

ArenaPlan plan_arena(uint64_t cache_bytes, uint64_t asked, uint64_t available, uint64_t buffers, uint64_t granule) {
    ArenaPlan out;
    out.wanted = std::max<uint64_t>(4 * cache_bytes, uint64_t{256} << 20);
    const auto share = available / 2 / std::max<uint64_t>(1, buffers);
    out.bytes = std::min(asked != 0 ? asked : out.wanted, share);
    granule = std::max<uint64_t>(granule, 4);
    if (out.bytes >= granule)
        out.bytes -= out.bytes % granule;
    else
        out.bytes = 0;
    return out;
}

} // namespace hbf::measure
