// SPDX-License-Identifier: Apache-2.0
#include "tools/bandwidth/run.hpp"

#include <algorithm>
#include <ctime>
#include <set>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "tools/bandwidth/io_bytes.hpp"
#include "tools/bandwidth/judge.hpp"
#include "tools/bandwidth/workbench.hpp"
#include "tools/output/size.hpp"

namespace hbf::tools::bandwidth {
namespace {

using measure::Clock;
using measure::ReferenceCopy;
using measure::seconds_between;

constexpr uint32_t most_commands = 256;
constexpr uint64_t latency_size = 64 << 10;

// A row while it is being measured.
struct Live {
    Row row;
    std::optional<measure::Transfer> transfer;
    std::vector<int> cpus; // where its copies run
    std::shared_ptr<measure::ReferenceTeam> team;
    uint64_t device_bytes = 0, timed_bytes = 0;
    bool storage_counted = true;
    bool active() const { return row.status == Status::pass && transfer.has_value(); }
};

void give_up(Live &live, const Error &error) {
    // The run was stopped, not the device at fault.
    if (error.code == Code::cancelled && !live.row.samples.empty()) {
        live.row.interrupted = true;
        live.transfer.reset();
        return;
    }
    const bool no_room = (error.code == Code::exhausted || error.code == Code::unsupported) && live.row.samples.empty();
    live.row.status = error.code == Code::data_loss ? Status::fail : no_room ? Status::skipped : Status::error;
    live.row.reason = fmt::format("{}: {}", to_string(error.code), error.message);
    if (error.offset != no_place) live.row.reason += fmt::format(" (offset {:#x})", error.offset);
    if (error.code == Code::cancelled) live.row.interrupted = true;
    live.transfer.reset();
}

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

class Runner {
public:
    Runner(Machine &machine, const std::vector<RowSpec> &specs, const Options &options, const RunHooks &hooks)
        : machine_(machine), options_(options), hooks_(hooks), bench_(machine, specs, options),
          home_(measure::allowed_cpus()) {
        for (const auto &spec : specs) rows_.emplace_back().row.spec = spec;
    }

    Run run() {
        Run out;
        out.started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
        out.seed = options_.seed;
        start_ = Clock::now();
        for (auto &live : rows_) prepare(live);
        for (auto &live : rows_) warm_up(live);
        sample_all();
        for (auto &live : rows_) measure_latency(live);
        measure::bind_thread(home_);
        for (auto &live : rows_) {
            finish(live);
            out.interrupted |= live.row.interrupted;
            out.rows.push_back(std::move(live.row));
        }
        out.interrupted |= stopped();
        out.elapsed_seconds = seconds_between(start_, Clock::now());
        return out;
    }

private:
    bool stopped() const { return hooks_.stop && hooks_.stop(); }
    void tell(const std::string &text) const {
        if (hooks_.progress) hooks_.progress(text);
    }

    void prepare(Live &live) {
        auto &row = live.row;
        const auto &src = machine_.places()[row.spec.src];
        const auto &dst = machine_.places()[row.spec.dst];
        row.src = label(machine_, row.spec.src);
        row.dst = label(machine_, row.spec.dst);
        row.executor = machine_.executor_name(src.device);
        row.emulated = src.emulated || dst.emulated || src.tier.emulated || dst.tier.emulated;
        row.storage = is_storage(src.tier) || is_storage(dst.tier);
        if (stopped()) return give_up(live, Error{Code::cancelled, "interrupted before it was measured"});
        tell(fmt::format("preparing {} -> {}", src.tier.name, dst.tier.name));
        // Memory first: the destination's pages are touched from where its copies will run.
        live.cpus = cpus_of_node(machine_.inventory(), is_storage(src.tier) ? dst.tier.numa_node : src.tier.numa_node);
        bind(live);
        QueueShape shape{static_cast<uint32_t>(options_.depth), most_commands};
        auto target = machine_.executor(src.device, shape);
        if (!target) return give_up(live, target.error());
        auto pair = bench_.buffers(row.spec);
        if (!pair) return give_up(live, pair.error());
        row.bytes = pair->bytes;
        row.wanted_bytes = pair->wanted;
        row.cache_hot = !row.storage && pair->bytes < pair->wanted;
        row.src_page_size = pair->src.page_size;
        row.dst_page_size = pair->dst.page_size;
        const auto plan = measure::plan_batches(pair->bytes, options_.op_size, shape.depth, shape.commands);
        row.op_size = plan.op_size;
        row.batch_ops = plan.batch_ops;
        row.depth = shape.depth;
        // Rows share buffers: each has its own seed, so that what an earlier one left is never right for a later one.
        const auto seed = static_cast<uint32_t>(options_.seed * 0x9E3779B1u + static_cast<uint64_t>(&live - rows_.data()));
        live.transfer.emplace(**target, pair->src, pair->dst, pair->staging, pair->bytes, plan, shape.depth, seed);
        add_references(live);
    }

    void bind(Live &live) const {
        if (!options_.no_affinity) live.row.bound = measure::bind_thread(live.cpus);
    }

    void add_references(Live &live) {
        if (live.transfer->src().address == nullptr || live.transfer->dst().address == nullptr) return;
        for (const auto &other : rows_) {
            if (other.team && other.cpus == live.cpus) live.team = other.team;
        }
        if (!live.team) live.team = std::make_shared<measure::ReferenceTeam>(live.cpus);
        std::set<size_t> threads{1, live.team->size()};
        for (auto count : threads) {
            for (auto kind : {ReferenceCopy::libc_memcpy, ReferenceCopy::streaming})
                live.row.references.push_back({kind, count, {}});
        }
    }

    void warm_up(Live &live) {
        if (!live.active()) return;
        bind(live);
        const auto &place = machine_.places()[live.row.spec.src];
        tell(fmt::format("warming up {} -> {}", place.tier.name, machine_.places()[live.row.spec.dst].tier.name));
        const double share = std::max(0.5, 0.1 * options_.seconds / static_cast<double>(rows_.size()));
        measure::WarmUp warm(options_.warm_up > 0 ? options_.warm_up : share);
        double last = 0;
        while (!warm.done() && !stopped()) {
            auto pass = live.transfer->pass();
            if (!pass) return give_up(live, pass.error());
            warm.add(last = *pass);
        }
        live.row.warmup_passes = warm.passes();
        live.row.warmup_stable = warm.stable();
        live.transfer->set_passes(measure::passes_needed(last, clock_step_));
        live.row.sample_bytes = live.transfer->sample_bytes();
    }

    void sample_all() {
        const auto begin = Clock::now();
        measure::StopRule rule;
        rule.samples = options_.samples;
        rule.seconds = options_.seconds - seconds_between(start_, begin);
        if (options_.target_ci > 0) rule.target_half_width = options_.target_ci / 100;
        for (size_t round = 0;; ++round) {
            const auto elapsed = seconds_between(begin, Clock::now());
            auto reason = rule.decide(round, elapsed, widest(round));
            // A round that would not fit in the time is not begun, once there are enough of them for an interval.
            if (reason == measure::StopRule::Reason::go_on && round >= measure::StopRule::fewest &&
                elapsed + elapsed / static_cast<double>(round) > rule.seconds) {
                reason = measure::StopRule::Reason::time;
            }
            const bool any = std::any_of(rows_.begin(), rows_.end(), [](const Live &live) { return live.active(); });
            if (!any || stopped() || reason != measure::StopRule::Reason::go_on) {
                for (auto &live : rows_) {
                    live.row.stopped = stopped() ? "interrupted" : measure::to_string(reason);
                    if (live.active() && stopped()) live.row.interrupted = true;
                }
                return;
            }
            tell(fmt::format("sample {} of {}, {:.0f} of {:.0f} s", round + 1, options_.samples,
                             seconds_between(start_, Clock::now()), options_.seconds));
            for (auto &live : rows_) {
                if (live.active() && !stopped()) sample(live);
            }
        }
    }

    // The widest interval of all rows; nothing while one has none.
    std::optional<double> widest(size_t round) const {
        if (options_.target_ci <= 0 || round < measure::StopRule::fewest) return std::nullopt;
        double out = 0;
        for (const auto &live : rows_) {
            if (!live.active()) continue;
            auto width = measure::summarize(live.row.gbs).half_width();
            if (!width) return std::nullopt;
            out = std::max(out, *width);
        }
        return out;
    }

    void sample(Live &live) {
        auto &row = live.row;
        bind(live);
        const auto before = measure::read_cpu_use();
        const auto io_before = row.storage ? read_io_bytes() : std::nullopt;
        auto taken = live.transfer->sample();
        if (!taken) return give_up(live, taken.error());
        const auto io_after = row.storage ? read_io_bytes() : std::nullopt;
        run_references(live);
        const auto after = measure::read_cpu_use();
        SampleRecord record{*taken, std::nullopt};
        if (before && after) record.contention = measure::contention_between(*before, *after);
        if (record.contention && record.contention->contended) ++row.contended;
        count_device_bytes(live, io_before, io_after);
        const auto bytes = static_cast<double>(live.transfer->sample_bytes());
        row.gbs.push_back(bytes / taken->queue_seconds * 1e-9);
        row.wall_gbs.push_back(bytes / taken->wall_seconds * 1e-9);
        if (taken->mismatch) {
            row.status = Status::fail;
            row.reason =
                fmt::format("data_loss: sample {}: {}", row.samples.size() + 1, measure::to_string(*taken->mismatch));
        }
        row.samples.push_back(std::move(record));
        row.cpu = measure::current_place();
    }

    // A sample of a storage row writes the source or poison, moves, and reads back: what went to the device over all of it,
    // against what must have.
    void count_device_bytes(Live &live, const std::optional<IoBytes> &before, const std::optional<IoBytes> &after) {
        if (!live.row.storage) return;
        if (!before || !after) {
            live.storage_counted = false;
            return;
        }
        live.device_bytes += after->read - before->read;
        // Read once: the timed read of a read row, the check of a write row.
        live.timed_bytes += is_storage(machine_.places()[live.row.spec.dst].tier) ? live.row.bytes : live.row.sample_bytes;
    }

    void run_references(Live &live) {
        if (!live.team) return;
        const auto &src = live.transfer->src();
        const auto &dst = live.transfer->dst();
        // The same bytes as the sample, so that it is as likely to be disturbed; in the same pieces.
        const auto bytes = live.row.bytes;
        const auto passes = static_cast<uint32_t>(live.row.sample_bytes / bytes);
        for (auto &series : live.row.references) {
            double seconds = 0;
            for (uint32_t i = 0; i < passes; ++i) {
                seconds += live.team->run(series.kind, series.threads, dst.address, src.address, bytes, live.row.op_size);
            }
            series.gbs.push_back(static_cast<double>(bytes) * passes / seconds * 1e-9);
        }
    }

    void measure_latency(Live &live) {
        if (!live.active() || stopped() || live.row.bytes < 2 * latency_size) return;
        bind(live);
        live.row.latency.emplace();
        auto checked = live.transfer->latencies(latency_size, 0.2, 2000, *live.row.latency);
        if (!checked) return give_up(live, checked.error());
        if (!*checked) return;
        live.row.status = Status::fail;
        live.row.reason = fmt::format("data_loss: 64 KiB copies: {}", measure::to_string(**checked));
    }

    void finish(Live &live) {
        auto &row = live.row;
        if (live.transfer && live.transfer->src().address != nullptr) {
            row.src_pages = measure::page_places(live.transfer->src().address, row.bytes).pages;
        }
        if (live.transfer && live.transfer->dst().address != nullptr) {
            row.dst_pages = measure::page_places(live.transfer->dst().address, row.bytes).pages;
        }
        if (row.storage && !row.samples.empty()) {
            row.page_cache = !live.storage_counted                            ? PageCache::unknown
                             : live.device_bytes * 10 >= live.timed_bytes * 9 ? PageCache::bypassed
                                                                              : PageCache::hot;
        }
        summarize(row);
        judge(row, machine_);
    }

    Machine &machine_;
    const Options &options_;
    const RunHooks &hooks_;
    Workbench bench_;
    std::vector<int> home_;
    std::vector<Live> rows_;
    Clock::time_point start_;
    double clock_step_ = measure::clock_step();
};

} // namespace

Run measure_rows(Machine &machine, const std::vector<RowSpec> &rows, const Options &options, const RunHooks &hooks) {
    return Runner(machine, rows, options, hooks).run();
}

} // namespace hbf::tools::bandwidth
