// SPDX-License-Identifier: Apache-2.0
// When warm-up is over, how many samples to take, how large an operation is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace hbf::measure {

// Two full passes and 0.2 s at least, then until the last five differ by less than 2 %; at `give_up` seconds it is over
// anyway and called unstable.
class WarmUp {
public:
    explicit WarmUp(double give_up_seconds) : give_up_(give_up_seconds) {}
    void add(double pass_seconds);
    bool done() const;
    bool stable() const;
    size_t passes() const { return passes_.size(); }

private:
    std::vector<double> passes_;
    double total_ = 0, give_up_;
};

// Goes on until the number of samples is reached, or the interval is narrow enough, or the time is up; never stops below six
// for lack of time unless even three times the time is up.
struct StopRule {
    size_t samples = 30;
    double seconds = 20;
    std::optional<double> target_half_width; // share of the median, 0.01 for 1 %
    static constexpr size_t fewest = 6;      // below it there is no confidence interval

    enum class Reason { go_on, samples, target, time };
    Reason decide(size_t taken, double elapsed_seconds, std::optional<double> half_width) const;
};
const char *to_string(StopRule::Reason reason);

// A sample of `bytes` as operations in batches, with at most `depth` batches in flight.
struct BatchPlan {
    uint64_t op_size = 0;
    uint64_t ops = 0;       // in a sample
    uint32_t batch_ops = 0; // in a batch
    uint32_t batches = 0;
};
BatchPlan plan_batches(uint64_t bytes, uint64_t op_size, uint32_t depth, uint32_t most_commands);

// Times a sample repeats its bytes so that it lasts 20 ms, or 1,000 steps of the clock where that is enough to be exact.
uint32_t passes_needed(double pass_seconds, double clock_step_seconds);

// Bytes of each buffer so that nothing stays in the cache: max(4 x last-level cache, 256 MiB), or less where memory is
// short.
struct ArenaPlan {
    uint64_t bytes = 0;
    uint64_t wanted = 0;
    bool cold() const { return bytes >= wanted; }
};
// `buffers` of them come out of `available`, of which half is taken at most; a multiple of `granule`.
ArenaPlan plan_arena(uint64_t cache_bytes, uint64_t asked, uint64_t available, uint64_t buffers, uint64_t granule);

} // namespace hbf::measure
