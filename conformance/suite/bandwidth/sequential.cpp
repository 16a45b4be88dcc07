// SPDX-License-Identifier: Apache-2.0
// Large copies between the host's tier and the others: verified, not impossibly fast, as fast as declared.
#include <atomic>
#include <thread>

#include "conformance/measure/clock.hpp"
#include "conformance/suite/async/expect.hpp"
#include "conformance/suite/bandwidth/bench.hpp"
#include "conformance/suite/threads.hpp"

namespace hbf::conformance {
namespace {

constexpr size_t fewest_samples = 6; // below it the median has no interval

// Whether to go on after `taken` samples: till this path's share of the budget is spent.
class Share {
public:
    Share(const Context &context, size_t paths) : seconds_(context.budget_s() / static_cast<double>(paths)) {}
    bool more(size_t taken, double part = 1) const {
        const double spent = measure::seconds_between(begin_, measure::Clock::now());
        return taken < fewest_samples || (spent < part * seconds_ && taken < 200);
    }

private:
    double seconds_;
    measure::Clock::time_point begin_ = measure::Clock::now();
};

uint64_t buffer_bytes(const Context &context) {
    return context.scaled(64u << 20, 256u << 20, 256u << 20);
}

// Verified too, one sample a size: for the report's plot.
void sweep(Context &context, const Instance &device, Path path, const Share &share, const std::string &metric) {
    Series series{metric, "sweep", "bytes a copy", "B/s", {}};
    for (const uint64_t op_size : {4u << 10, 64u << 10, 1u << 20, 16u << 20}) {
        if (!share.more(fewest_samples)) break;
        Bench bench(context, device, path, {.bytes = std::max<uint64_t>(op_size, 4u << 20), .op_size = op_size});
        if (bench.transfer().bytes() < op_size) break;
        std::vector<double> samples;
        for (int i = 0; i < 3; ++i) samples.push_back(bench.sample());
        series.points.push_back({{}, static_cast<double>(op_size), measure::summarize(samples).median});
    }
    context.series(std::move(series));
}

void one_way(Context &context, const std::vector<Path> &paths, const std::string &way) {
    const Instance &device = context.device();
    for (const Path path : paths) {
        const Share share(context, paths.size());
        const std::string metric = fmt::format("bandwidth.{}.{}", way, name_of(device, path));
        Speed speed;
        {
            Bench bench(context, device, path, {.bytes = buffer_bytes(context)});
            while (share.more(speed.samples.size(), 0.7)) {
                bench.reference();
                speed.samples.push_back(bench.sample());
            }
            bench.reference();
            speed.reference = bench.fastest_reference();
            speed.declared = declared_bandwidth(device, path);
            speed.cold = bench.cold();
            speed.contended = bench.contended();
        }
        conclude(context, metric, speed,
                 fmt::format("from {} to {}", device.tier(path.src).name, device.tier(path.dst).name));
        sweep(context, device, path, share, metric + ".by_size");
    }
}

// Both at once; bytes per second of both together. Each is timed from the moment both could begin to the later one's end.
double sample_both(Bench &there, Bench &back) {
    there.prepare();
    back.prepare();
    measure::Sample taken[2];
    measure::Clock::time_point begin[2], end[2];
    run_threads(2, [&](unsigned i) {
        begin[i] = measure::Clock::now();
        taken[i] = (i ? back : there).time();
        end[i] = measure::Clock::now();
    });
    there.check(taken[0]);
    back.check(taken[1]);
    const auto bytes = static_cast<double>(there.transfer().sample_bytes() + back.transfer().sample_bytes());
    return bytes / std::max(measure::seconds_between(std::min(begin[0], begin[1]), std::max(end[0], end[1])), 1e-9);
}

} // namespace

HBF_CASE("bandwidth.h2d.sequential_meets_declared",
         {.rules = {"HBF-BW-1", "HBF-QUEUE-3"},
          .kills = {"m05_early_complete", "m31_bandwidth_overstated", "m32_throughput_throttled", "bandwidth_understated"},
          .needs = need::cpu_tier,
          .budget_s = 3.5}) {
    one_way(context, paths_out(context.device()), "h2d");
}

HBF_CASE("bandwidth.d2h.sequential_meets_declared",
         {.rules = {"HBF-BW-1", "HBF-QUEUE-3"},
          .kills = {"m05_early_complete", "m31_bandwidth_overstated", "m32_throughput_throttled", "bandwidth_understated"},
          .needs = need::cpu_tier,
          .budget_s = 3.5}) {
    one_way(context, paths_back(context.device()), "d2h");
}

// Both directions together do at least what one is declared to do: a half-duplex link has no more.
HBF_CASE("bandwidth.bidirectional.sequential_meets_declared",
         {.rules = {"HBF-BW-1", "HBF-QUEUE-3"},
          .kills = {"m05_early_complete", "m31_bandwidth_overstated", "m32_throughput_throttled", "bandwidth_understated"},
          .needs = need::cpu_tier,
          .budget_s = 3.5}) {
    const Instance &device = context.device();
    const auto paths = paths_out(device);
    for (const Path path : paths) {
        const Share share(context, paths.size());
        const BenchPlan plan{.bytes = buffer_bytes(context) / 2};
        Bench there(context, device, path, plan), back(context, device, {path.dst, path.src}, plan);
        Speed speed;
        while (share.more(speed.samples.size())) {
            there.reference();
            speed.samples.push_back(sample_both(there, back));
        }
        there.reference();
        speed.reference = there.fastest_reference();
        // At least what one way is declared to do, at most twice that.
        speed.declared = declared_bandwidth(device, path);
        speed.both_ways = 2 * speed.declared;
        speed.cold = there.cold() && back.cold();
        speed.contended = there.contended();
        conclude(
            context, fmt::format("bandwidth.bidirectional.{}", name_of(device, path)), speed,
            fmt::format("between {} and {}, both ways at once", device.tier(path.src).name, device.tier(path.dst).name));
    }
}

} // namespace hbf::conformance
