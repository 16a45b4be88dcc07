// SPDX-License-Identifier: Apache-2.0
#include "conformance/litmus/campaign.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

namespace hbf::litmus {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double slice_s = 0.004;    // of the shape in a round
constexpr unsigned first_draws = 4;  // rounds with new configurations before the best one is used again
constexpr unsigned least_rounds = 8; // however long they take on a busy machine

// Remembers the configuration with the highest rate of sightings; half of the later rounds draw a new one.
class Tuner {
public:
    Tuner(uint64_t seed, const Runner &runner, unsigned agents)
        : random_(seed), agents_(agents), cpus_(runner.cpus()), ranges_(runner.ranges()) {}

    Config next() {
        if (drawn_ < first_draws || random_.below(2) == 0) {
            ++drawn_;
            return draw_config(random_, agents_, cpus_, ranges_);
        }
        Config again = best_;
        again.seed = random_(); // other delays and permutations, the same knobs
        return again;
    }
    void learn(const Config &config, double rate) {
        if (rate <= best_rate_) return;
        best_rate_ = rate;
        best_ = config;
    }
    unsigned drawn() const { return drawn_; }
    const Config &best() const { return best_; }

private:
    Random random_;
    unsigned agents_, cpus_, ranges_, drawn_ = 0;
    Config best_{};
    double best_rate_ = -1;
};

class Campaign {
public:
    Campaign(Runner &runner, const ShapeTest &test, const Budget &budget, uint64_t seed)
        : runner_(runner), test_(test), budget_(budget),
          tuner_(seed, runner, static_cast<unsigned>(test.shape.agents.size())) {
        report_.shape = &test.shape;
        for (const Control &control : test.controls) report_.controls.push_back({&control, 0, 0, 0});
    }

    Report run() {
        const auto begin = Clock::now();
        const auto spent = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
        for (unsigned round = 0;; ++round) {
            const Config config = tuner_.next();
            run_controls(config, round);
            run_shape(config);
            const double used = spent();
            if (report_.violations() >= 2) break;
            if (used >= budget_.most_s || (used >= budget_.least_s && round + 1 >= least_rounds && seen_enough())) break;
        }
        report_.finding = decide();
        report_.configs = tuner_.drawn();
        report_.best = tuner_.best();
        return report_;
    }

private:
    // Until they were seen often enough, then in one round of four.
    void run_controls(const Config &config, unsigned round) {
        double rate = 0;
        bool ran = false;
        for (ControlResult &result : report_.controls) {
            if (result.seen >= 2 * budget_.sightings && round >= first_draws && round % 4 != 0) continue;
            const Slice slice = runner_.run(result.control->shape, config, slice_s / 2);
            const uint64_t seen = slice.histogram.asked(result.control->shape);
            result.seen += seen;
            result.instances += slice.histogram.instances;
            result.seconds += slice.seconds;
            ran = true;
            rate += static_cast<double>(seen) / slice.seconds;
        }
        if (ran) tuner_.learn(config, rate);
    }
    void run_shape(const Config &config) {
        Slice slice = runner_.run(test_.shape, config, slice_s);
        report_.histogram.add(slice.histogram);
        report_.seconds += slice.seconds;
        for (Dump &dump : slice.dumps) report_.dumps.push_back(std::move(dump));
    }
    bool seen_enough() const {
        return std::any_of(report_.controls.begin(), report_.controls.end(),
                           [&](const ControlResult &result) { return result.seen >= budget_.sightings; });
    }
    // One violation alone may be this program's mistake or an upset machine's: the controls must show again what they
    // should.
    Finding decide() {
        const uint64_t violations = report_.violations();
        if (violations >= 2) return Finding::violated;
        if (violations == 0) return seen_enough() ? Finding::holds : Finding::inconclusive;
        for (ControlResult &result : report_.controls) result.seen = 0;
        const auto end = Clock::now() + std::chrono::duration<double>(budget_.most_s);
        while (!seen_enough() && Clock::now() < end) run_controls(tuner_.best(), 0);
        return seen_enough() ? Finding::violated : Finding::inconclusive;
    }

    Runner &runner_;
    const ShapeTest &test_;
    Budget budget_;
    Tuner tuner_;
    Report report_;
};

} // namespace

uint64_t needed_sightings(double confidence) {
    return static_cast<uint64_t>(std::ceil(-std::log1p(-confidence) - 1e-9));
}

double Report::confidence() const {
    double most = 0;
    for (const ControlResult &result : controls)
        if (result.seen >= enough_sightings) most = std::max(most, result.rate());
    return -std::expm1(-most * seconds);
}

Report run_campaign(Runner &runner, const ShapeTest &test, const Budget &budget, uint64_t seed) {
    return Campaign(runner, test, budget, seed).run();
}

std::string observation_line(const Shape &shape, const Histogram &histogram) {
    const uint64_t seen = histogram.asked(shape);
    const char *const how = seen == 0 ? "Never" : seen == histogram.instances ? "Always" : "Sometimes";
    return fmt::format("Observation {} {} {}/{:.3g}", shape.name, how, seen, static_cast<double>(histogram.instances));
}

std::string score_line(const Report &report) {
    size_t score = 0;
    const ControlResult *weakest = nullptr;
    for (const ControlResult &result : report.controls) {
        if (result.seen >= enough_sightings) ++score;
        if (weakest == nullptr || result.rate() < weakest->rate()) weakest = &result;
    }
    const double confidence = std::min(report.confidence(), 0.99999);
    return fmt::format("mutation score {}/{}, weakest {} {:.3g}/s, confidence {:.6g}% in {:.2g} s, {} configurations, best "
                       "{:#010x} ({})",
                       score, report.controls.size(), weakest ? weakest->control->shape.name : "none",
                       weakest ? weakest->rate() : 0, 100 * confidence, report.seconds, report.configs, hash_of(report.best),
                       to_string(report.best));
}

} // namespace hbf::litmus
