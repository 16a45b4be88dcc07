// SPDX-License-Identifier: Apache-2.0
// Small copies: how many a second, and how long one takes, each verified.
#include <algorithm>

#include "conformance/measure/clock.hpp"
#include "conformance/measure/histogram.hpp"
#include "conformance/suite/async/expect.hpp"
#include "conformance/suite/bandwidth/bench.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t block = 4096;
constexpr size_t stretch_length = 8; // copies whose median is one sample

std::vector<Path> paths_both(const Instance &device) {
    auto out = paths_out(device);
    for (const Path path : paths_back(device))
        if (path.src != path.dst) out.push_back(path);
    return out;
}

double seconds_of_path(const Context &context, size_t paths) {
    return context.budget_s() / static_cast<double>(paths);
}

// One block at a time from a random place to a random place, no place twice; read at once where the CPU can.
struct Latencies {
    measure::Histogram histogram;
    std::vector<double> all_ns, medians_ns; // medians of stretches
};

void take_latencies(Context &context, const Instance &device, Path path, double seconds, uint32_t generation,
                    Latencies &out) {
    Regions regions(device);
    ByteAccess access(device);
    Queue queue(device);
    const uint64_t blocks = 1024;
    const hbf_region_info src = regions.make(path.src, blocks * block), dst = regions.make(path.dst, blocks * block);
    const kernels::PatternKey key{static_cast<uint32_t>(context.seed()), generation, false};
    write_pattern(access, src, 0, blocks * block, key, 0);
    write_pattern(access, dst, 0, blocks * block, poison_of(key), 0);
    Random random(context.seed() + generation);
    std::vector<uint64_t> order(blocks);
    for (uint64_t i = 0; i < blocks; ++i) order[i] = i;
    for (uint64_t i = blocks; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);

    const auto start = measure::Clock::now();
    const std::string what = fmt::format("a block from {} to {}, ", device.tier(path.src).name, device.tier(path.dst).name);
    std::vector<double> stretch;
    std::vector<uint64_t> moved;
    for (const uint64_t at : order) {
        const auto begin = measure::Clock::now();
        device.must_run(queue, {copy_command(dst.region, at * block, src.region, at * block, block)});
        const auto end = measure::Clock::now();
        moved.push_back(at);
        if (dst.address) {
            access.refresh(dst, at * block, block);
            expect_pattern(context, device, dst, at * block, static_cast<const std::byte *>(dst.address) + at * block, block,
                           key, at * block, fault::early_completion, what + "read at once");
        }
        const double ns = measure::seconds_between(begin, end) * 1e9;
        out.histogram.record(static_cast<uint64_t>(std::max(0.0, ns)));
        out.all_ns.push_back(ns);
        stretch.push_back(ns);
        if (stretch.size() == stretch_length) {
            out.medians_ns.push_back(measure::summarize(stretch).median);
            stretch.clear();
        }
        if (out.medians_ns.size() >= 6 && measure::seconds_between(start, end) > seconds) break;
    }
    if (!dst.address)
        for (const uint64_t at : moved) {
            const auto bytes = access.read(dst, at * block, block);
            expect_pattern(context, device, dst, at * block, bytes.data(), block, key, at * block, fault::not_written,
                           what + "read back");
        }
}

} // namespace

HBF_CASE("bandwidth.copy.small_block_4k_rate", {.rules = {"HBF-BW-1", "HBF-DMA-2"},
                                                .kills = {"m05_early_complete", "bandwidth_understated"},
                                                .needs = need::cpu_tier,
                                                .budget_s = 3}) {
    const Instance &device = context.device();
    const auto paths = paths_both(device);
    for (const Path path : paths) {
        const double seconds = seconds_of_path(context, paths.size());
        const auto begin = measure::Clock::now();
        Bench bench(context, device, path, {.bytes = 16u << 20, .op_size = block, .depth = 32, .commands = 128});
        Speed speed;
        std::vector<double> rates;
        while (rates.size() < 6 ||
               (measure::seconds_between(begin, measure::Clock::now()) < seconds && rates.size() < 200)) {
            bench.reference();
            speed.samples.push_back(bench.sample());
            rates.push_back(speed.samples.back() / static_cast<double>(block));
        }
        const auto summary = measure::summarize(rates);
        Metric metric{fmt::format("bandwidth.rate_4k.{}", name_of(device, path)), "1/s", summary.median, rates};
        if (summary.ci95) metric.low = summary.ci95->low, metric.high = summary.ci95->high;
        context.metric(std::move(metric));
        speed.reference = bench.fastest_reference();
        speed.declared = declared_bandwidth(device, path);
        speed.cold = bench.cold();
        speed.floor = false; // nobody declares a rate of small commands
        const Judgement verdict = judge_speed(speed);
        context.count_check();
        if (!verdict.fault_class.empty())
            fail_as(verdict.fault_class, fmt::format("blocks of 4 KiB from {} to {}: {}", device.tier(path.src).name,
                                                     device.tier(path.dst).name, verdict.reason));
    }
}

HBF_CASE("bandwidth.copy.latency_p99", {.rules = {"HBF-BW-1", "HBF-QUEUE-3"},
                                        .kills = {"m05_early_complete", "latency_understated"},
                                        .needs = need::cpu_tier,
                                        .budget_s = 3}) {
    const Instance &device = context.device();
    const auto paths = paths_both(device);
    const auto before = measure::read_cpu_use();
    for (const Path path : paths) {
        const double seconds = seconds_of_path(context, paths.size());
        const auto begin = measure::Clock::now();
        Latencies taken;
        uint32_t generation = 0;
        do {
            take_latencies(context, device, path, seconds, ++generation, taken);
        } while (measure::seconds_between(begin, measure::Clock::now()) < seconds);
        const auto now = measure::read_cpu_use();
        const bool contended = before && now && measure::contention_between(*before, *now).contended;
        const std::string name = fmt::format("bandwidth.latency_4k.{}", name_of(device, path));
        const auto medians = measure::summarize(taken.medians_ns);
        Metric median{name + ".median", "ns", medians.median, taken.medians_ns};
        if (medians.ci95) median.low = medians.ci95->low, median.high = medians.ci95->high;
        context.metric(std::move(median));
        context.metric({name + ".p99", "ns", static_cast<double>(taken.histogram.quantile(0.99))});
        context.metric({name + ".max", "ns", static_cast<double>(taken.histogram.max())});
        // The plot leaves out the last hundredth, which would squeeze the rest into one bar; p99 and max say what it was.
        std::sort(taken.all_ns.begin(), taken.all_ns.end());
        taken.all_ns.resize(std::max<size_t>(1, taken.all_ns.size() * 99 / 100));
        context.series(distribution_of(name, "ns", taken.all_ns));
        const Judgement verdict = judge_latency(taken.medians_ns, declared_latency_ns(device, path), contended);
        context.count_check();
        if (!verdict.note.empty()) context.note(fmt::format("{}: {}", name_of(device, path), verdict.note));
        if (!verdict.fault_class.empty())
            fail_as(verdict.fault_class,
                    fmt::format("one block of 4 KiB at a time from {} to {}: {}", device.tier(path.src).name,
                                device.tier(path.dst).name, verdict.reason));
    }
}

} // namespace hbf::conformance
