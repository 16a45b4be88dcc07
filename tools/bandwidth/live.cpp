// SPDX-License-Identifier: Apache-2.0
#include "tools/bandwidth/live.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "core/output/size.hpp"
#include "tools/bandwidth/io_bytes.hpp"
#include "tools/bandwidth/judge.hpp"

namespace hbf::tools::bandwidth {
namespace {

using measure::ReferenceCopy;

constexpr uint32_t most_commands = 256;
constexpr uint64_t cold_storage_bytes = 64 << 20;

std::vector<int> cpus_of_node(const Inventory &inventory, int node) {
    const auto allowed = measure::allowed_cpus();
    std::vector<int> out;
    for (const auto &one : inventory.nodes) {
        if (one.id != node) continue;
        for (int cpu : one.cpus) {
            if (std::find(allowed.begin(), allowed.end(), cpu) != allowed.end()) out.push_back(cpu);
        }
    }
    return out.empty() ? allowed : out;
}

// Of what CPUs could do in the place of a copy engine; what a kernel does is no copy, or not of their kind.
void add_references(Live &live, Teams &teams) {
    if (live.row.spec.work != measure::Work::copy) return;
    if (live.transfer->src().address == nullptr || live.transfer->dst().address == nullptr) return;
    auto &team = teams[live.cpus];
    if (!team) team = std::make_shared<measure::ReferenceTeam>(live.cpus);
    live.team = team;
    // One shape of many is held against one thread; that the others help is shown by the tier's own row.
    std::set<size_t> threads{1};
    if (live.row.spec.op_size == 0) threads.insert(live.team->size());
    for (auto count : threads) {
        for (auto kind : {ReferenceCopy::libc_memcpy, ReferenceCopy::streaming})
            live.row.references.push_back({kind, count, {}});
    }
}

void run_references(Live &live) {
    if (!live.team) return;
    const auto &src = live.transfer->src();
    const auto &dst = live.transfer->dst();
    // The same bytes as the sample, so that it is as likely to be disturbed; in the same pieces.
    const auto bytes = live.row.bytes;
    const auto passes = static_cast<uint32_t>(live.row.sample_bytes / bytes);
    for (auto &series : live.row.references) {
        const double seconds =
            live.team->run(series.kind, series.threads, dst.address, src.address, bytes, live.row.op_size, passes);
        series.gbs.push_back(static_cast<double>(bytes) * passes / seconds * 1e-9);
    }
}

// A sample of a storage row writes the source or poison, moves, and reads back: what went to the device over all of it,
// against what must have.
void count_device_bytes(Live &live, const Machine &machine, const std::optional<IoBytes> &before,
                        const std::optional<IoBytes> &after) {
    if (!live.row.storage) return;
    if (!before || !after) {
        live.storage_counted = false;
        return;
    }
    live.device_bytes += after->read - before->read;
    // Read once: the timed read of a read row, the check of a write row.
    live.timed_bytes += is_storage(machine.places()[live.row.spec.dst].tier) ? live.row.bytes : live.row.sample_bytes;
}

} // namespace

void record(Row &row, const measure::Sample &taken, uint64_t moved, const std::optional<measure::CpuUse> &before) {
    const auto bytes = static_cast<double>(moved);
    const auto after = measure::read_cpu_use();
    SampleRecord one{taken, std::nullopt};
    if (before && after) one.contention = measure::contention_between(*before, *after);
    if (one.contention && one.contention->contended) ++row.contended;
    row.gbs.push_back(bytes / taken.queue_seconds * 1e-9);
    row.wall_gbs.push_back(bytes / taken.wall_seconds * 1e-9);
    if (taken.mismatch) {
        row.status = Status::fail;
        row.reason = fmt::format("data_loss: sample {}: {}", row.samples.size() + 1, measure::to_string(*taken.mismatch));
    }
    row.samples.push_back(std::move(one));
    row.cpu = measure::current_place();
}

void give_up(Live &live, const Error &error) {
    // The run was stopped, not the device at fault.
    if (error.code == Code::cancelled && !live.row.samples.empty()) {
        live.row.interrupted = true;
        live.transfer.reset();
        return;
    }
    const bool no_room =
        (error.code == Code::exhausted || error.code == Code::unsupported || error.code == Code::unavailable) &&
        live.row.samples.empty();
    live.row.status = error.code == Code::data_loss ? Status::fail : no_room ? Status::skipped : Status::error;
    live.row.reason = fmt::format("{}: {}", to_string(error.code), error.message);
    if (error.offset != no_place) live.row.reason += fmt::format(" (offset {:#x})", error.offset);
    if (error.code == Code::cancelled) live.row.interrupted = true;
    live.transfer.reset();
}

void bind(Live &live, const Options &options) {
    if (!options.no_affinity) live.row.bound = measure::bind_thread(live.cpus);
}

void open(Live &live, Machine &machine, Workbench &bench, const Options &options, Teams &teams, uint32_t most_depth,
          uint32_t seed) {
    auto &row = live.row;
    const auto &spec = row.spec;
    const auto &src = machine.places()[spec.src].tier;
    const auto &dst = machine.places()[spec.dst].tier;
    // Memory first: the destination's pages are touched from where its copies will run.
    const int memory_node = is_storage(src) ? dst.numa_node : src.numa_node;
    live.cpus = cpus_of_node(machine.inventory(), spec.executor_node >= 0 ? spec.executor_node : memory_node);
    bind(live, options);
    if (spec.direction == RowSpec::Direction::both) return;
    QueueShape shape{most_depth, std::max(most_commands, static_cast<uint32_t>(options.batch))};
    auto target = machine.executor(machine.places()[spec.src].device, static_cast<size_t>(spec.direction), shape);
    if (!target) return give_up(live, target.error());
    auto pair = bench.buffers(spec);
    if (!pair) return give_up(live, pair.error());
    if (spec.op_size > pair->bytes) {
        return give_up(live, Error{Code::exhausted, fmt::format("left out: the buffers have {}", format_size(pair->bytes))});
    }
    row.wanted_bytes = pair->wanted;
    row.bytes = pair->bytes;
    if (spec.op_size != 0)
        row.bytes = std::min(row.bytes, std::max(row.storage ? cold_storage_bytes : pair->wanted, spec.op_size));
    if (spec.bytes != 0) row.bytes = std::min(row.bytes, spec.bytes);
    row.cache_hot = !row.storage && row.bytes < pair->wanted;
    row.src_page_size = pair->src.page_size;
    row.dst_page_size = pair->dst.page_size;
    row.pages_asked = options.pages;
    row.depth =
        spec.depth != 0 ? std::min(spec.depth, shape.depth) : std::min(shape.depth, static_cast<uint32_t>(options.depth));
    const auto wanted_ops = spec.batch_ops != 0 ? spec.batch_ops : static_cast<uint32_t>(options.batch);
    const auto commands = wanted_ops != 0 ? std::min(wanted_ops, shape.commands) : std::min(most_commands, shape.commands);
    // One launch reads all of it, so that what it found is kept once a pass.
    const uint64_t op_size = spec.work == measure::Work::kernel_read ? row.bytes
                             : spec.op_size != 0                     ? spec.op_size
                                                                     : options.op_size;
    const auto plan = measure::plan_batches(row.bytes, op_size, row.depth, commands);
    row.op_size = plan.op_size;
    row.batch_ops = plan.batch_ops;
    live.transfer.emplace(**target, pair->src, pair->dst, pair->staging, row.bytes, plan, row.depth, seed, spec.order,
                          spec.work);
    row.bytes = live.transfer->bytes();
    if (spec.direction == RowSpec::Direction::alone) add_references(live, teams);
}

void sample(Live &live, Machine &machine) {
    const auto before = measure::read_cpu_use();
    const auto io_before = live.row.storage ? read_io_bytes() : std::nullopt;
    auto taken = live.transfer->sample();
    if (!taken) return give_up(live, taken.error());
    const auto io_after = live.row.storage ? read_io_bytes() : std::nullopt;
    run_references(live);
    count_device_bytes(live, machine, io_before, io_after);
    record(live.row, *taken, live.transfer->sample_bytes(), before);
}

void measure_latency(Live &live, const Options &options) {
    auto &row = live.row;
    measure::LatencyPlan plan;
    const bool of_tier =
        row.spec.op_size == 0 && row.spec.work == measure::Work::copy && row.spec.direction == RowSpec::Direction::alone;
    if (!live.active() || !of_tier || row.bytes < 2 * plan.granule) return;
    bind(live, options);
    auto run = [&](const std::string &name) {
        auto &series = row.latencies.emplace_back();
        series.name = name;
        series.offered = plan.rate;
        auto checked = live.transfer->latencies(plan, series.latency);
        if (!checked) return give_up(live, checked.error());
        if (!*checked) return;
        row.status = Status::fail;
        row.reason = fmt::format("data_loss: 64 KiB copies, {}: {}", name, measure::to_string(**checked));
    };
    if (options.latency) plan.seconds = 1, plan.most = 20000;
    run("cold, closed loop");
    if (!options.latency || !live.active()) return;
    const double most = row.latencies.front().latency.per_second();
    plan.hot = true;
    run("hot, closed loop");
    plan.hot = false;
    for (int percent : {50, 80, 95}) {
        plan.rate = most * percent / 100;
        if (live.active()) run(fmt::format("cold, open loop at {} %", percent));
    }
}

void finish(Live &live, const Machine &machine) {
    auto &row = live.row;
    if (live.transfer && live.transfer->src().address != nullptr) {
        row.src_pages = measure::page_places(live.transfer->src().address, row.bytes).pages;
    }
    if (live.transfer && live.transfer->dst().address != nullptr) {
        row.dst_pages = measure::page_places(live.transfer->dst().address, row.bytes).pages;
    }
    const bool counted = row.spec.direction == RowSpec::Direction::alone;
    if (row.storage && counted && !row.samples.empty()) {
        row.page_cache = !live.storage_counted                            ? PageCache::unknown
                         : live.device_bytes * 10 >= live.timed_bytes * 9 ? PageCache::bypassed
                                                                          : PageCache::hot;
    }
    summarize(row);
    judge(row, machine);
}

} // namespace hbf::tools::bandwidth
