// SPDX-License-Identifier: Apache-2.0
#include "tools/bandwidth/run.hpp"

#include <algorithm>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "tools/bandwidth/both_ways.hpp"

namespace hbf::tools::bandwidth {
namespace {

using measure::Clock;
using measure::seconds_between;

class Runner {
public:
    Runner(Machine &machine, const std::vector<RowSpec> &specs, const Options &options, const RunHooks &hooks)
        : machine_(machine), options_(options), hooks_(hooks), bench_(machine, specs, options),
          home_(measure::allowed_cpus()),
          seconds_(options.seconds > 0 ? options.seconds : default_seconds(options.sweep, specs.size())),
          most_depth_(static_cast<uint32_t>(options.depth)) {
        for (const auto &spec : specs) {
            rows_.emplace_back().row.spec = spec;
            most_depth_ = std::max(most_depth_, spec.depth);
        }
    }

    Run run() {
        Run out;
        out.started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
        out.seed = options_.seed;
        start_ = Clock::now();
        for (auto &live : rows_) prepare(live);
        for (auto &live : rows_) warm_up(live);
        each_pair([](Live &forward, Live &backward, Live &both) { balance(forward, backward, both); });
        sample_all();
        for (auto &live : rows_) {
            if (!stopped()) measure_latency(live, options_);
        }
        each_pair([](Live &forward, Live &backward, Live &both) { settle(forward, backward, both); });
        measure::bind_thread(home_);
        for (auto &live : rows_) {
            finish(live, machine_);
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

    template <class F>
    void each_pair(F &&f) {
        for (size_t i = 0; i < rows_.size(); ++i) {
            if (rows_[i].row.spec.direction == RowSpec::Direction::forward) f(rows_[i], rows_[i + 1], rows_[i + 2]);
        }
    }

    void prepare(Live &live) {
        auto &row = live.row;
        const auto &src = machine_.places()[row.spec.src];
        const auto &dst = machine_.places()[row.spec.dst];
        row.src = label(machine_, row.spec.src);
        row.dst = label(machine_, row.spec.dst);
        row.executor = row.spec.work == measure::Work::copy
                           ? machine_.executor_name(src.device)
                           : fmt::format("{} kernel {}", src.device_name, kernel_of(row.spec.work));
        row.emulated = src.emulated || dst.emulated || src.tier.emulated || dst.tier.emulated;
        row.storage = is_storage(src.tier) || is_storage(dst.tier);
        if (stopped()) return give_up(live, Error{Code::cancelled, "interrupted before it was measured"});
        tell(fmt::format("preparing {} -> {}", src.tier.name, dst.tier.name));
        // Rows share buffers: each has its own seed, so that what an earlier one left is never right for a later one.
        const auto seed = static_cast<uint32_t>(options_.seed * 0x9E3779B1u + static_cast<uint64_t>(&live - rows_.data()));
        open(live, machine_, bench_, options_, teams_, most_depth_, seed);
    }

    void warm_up(Live &live) {
        if (!live.active()) return;
        // A shape of a sweep is left out for the others' sake, the tier's own row never.
        if (live.row.spec.op_size != 0 && seconds_between(start_, Clock::now()) > seconds_ / 2) {
            return give_up(live, Error{Code::exhausted, "left out: its share of the time is up, --time gives more"});
        }
        bind(live, options_);
        const auto &place = machine_.places()[live.row.spec.src];
        tell(fmt::format("warming up {} -> {}", place.tier.name, machine_.places()[live.row.spec.dst].tier.name));
        // Of many rows in little time: never more than half of it for all, or none would be left for samples.
        const double each = seconds_ / static_cast<double>(rows_.size());
        const double share = std::min(0.5 * each, std::max(0.5, 0.1 * each));
        measure::WarmUp warm(options_.warm_up > 0 ? options_.warm_up : share);
        double last = 0;
        while (!warm.done() && !stopped()) {
            auto pass = live.transfer->pass();
            if (!pass) return give_up(live, pass.error());
            warm.add(last = *pass);
        }
        live.pass_seconds = last;
        live.row.warmup_passes = warm.passes();
        live.row.warmup_stable = warm.stable();
        live.transfer->set_passes(measure::passes_needed(last, clock_step_));
        live.row.sample_bytes = live.transfer->sample_bytes();
    }

    void sample_all() {
        const auto begin = Clock::now();
        measure::StopRule rule;
        rule.samples = options_.samples;
        rule.seconds = seconds_ - seconds_between(start_, begin);
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
                             seconds_between(start_, Clock::now()), seconds_));
            for (size_t i = 0; i < rows_.size() && !stopped(); ++i) {
                auto &live = rows_[i];
                if (!live.active()) continue;
                bind(live, options_);
                if (live.row.spec.direction == RowSpec::Direction::alone) {
                    sample(live, machine_);
                } else if (live.row.spec.direction == RowSpec::Direction::forward && rows_[i + 1].active()) {
                    sample_both(live, rows_[i + 1], rows_[i + 2]);
                }
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

    Machine &machine_;
    const Options &options_;
    const RunHooks &hooks_;
    Workbench bench_;
    std::vector<int> home_;
    double seconds_;
    uint32_t most_depth_; // of any row
    Teams teams_;
    std::vector<Live> rows_;
    Clock::time_point start_;
    double clock_step_ = measure::clock_step();
};

} // namespace

Run measure_rows(Machine &machine, const std::vector<RowSpec> &rows, const Options &options, const RunHooks &hooks) {
    return Runner(machine, rows, options, hooks).run();
}

} // namespace hbf::tools::bandwidth
