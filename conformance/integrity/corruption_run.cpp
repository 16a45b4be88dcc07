// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>

#include <fmt/format.h>

#include "conformance/integrity/bound.hpp"
#include "conformance/integrity/corruption.hpp"
#include "conformance/integrity/route.hpp"
#include "conformance/suite/context.hpp"
#include "core/common/suggest.hpp"
#include "core/output/size.hpp"

namespace hbf::integrity {
namespace {

using Clock = std::chrono::steady_clock;
using Usage = tl::expected<void, std::string>;

constexpr uint64_t default_bytes = uint64_t{256} << 20;
constexpr uint64_t trial_bytes = uint64_t{16} << 20; // of each pair, to know the rate
constexpr uint64_t witness_bytes = uint64_t{4} << 20;
constexpr unsigned moves = 5;

std::string text_of_duration(double seconds) {
    if (seconds < 120) return fmt::format("{:.0f} s", seconds);
    if (seconds < 7200) return fmt::format("{:.1f} min", seconds / 60);
    if (seconds < 172800) return fmt::format("{:.1f} h", seconds / 3600);
    return fmt::format("{:.1f} days", seconds / 86400);
}

struct Pair {
    const Arena::Place *from, *to;
    std::string name;
};

class Test {
public:
    Test(conformance::Subject &subject, CorruptionRun &run, const CorruptionHooks &hooks)
        : run_(run), hooks_(hooks), device_(subject.instance()) {}

    Usage execute() {
        run_.counters_before = device_counters(device_);
        const auto &options = run_.options;
        const bool asked = options.bytes != 0;
        const uint64_t bytes = std::max<uint64_t>(asked ? options.bytes / 4096 * 4096 : default_bytes, 64u << 10);
        const auto tiers = device_.dma_tiers();
        auto wanted = wanted_pairs(tiers);
        if (!wanted) return tl::unexpected(wanted.error());
        std::vector<uint32_t> used;
        for (const uint32_t tier : tiers) {
            if (std::any_of(wanted->begin(), wanted->end(), [&](auto p) { return p.first == tier || p.second == tier; }))
                used.push_back(tier);
        }
        Arena arena(device_, used, bytes, asked ? 3 : 8), small(device_, used, std::min(bytes / 4, witness_bytes));
        for (auto *const one : {&arena, &small}) one->verify_by(options.verify, true, options.seed);
        for (const auto &text : arena.notes()) run_.notes.push_back(text);
        if (options.verify == VerifyBy::kernel && std::none_of(arena.places().begin(), arena.places().end(),
                                                               [&](const auto &p) { return arena.verifier(p.tier); })) {
            run_.trouble = "--verify kernel: " + (arena.notes().empty() ? "no tier to test" : arena.notes().front()) +
                           "; without it the host compares";
            return {};
        }
        for (const auto &text : arena.skipped()) run_.notes.push_back("not tested: " + text);
        std::vector<Pair> pairs;
        for (const auto &[from, to] : *wanted) {
            const auto *a = place_of(arena, from), *b = place_of(arena, to);
            if (a && b) pairs.push_back({a, b, fmt::format("{} -> {}", device_.tier(from).name, device_.tier(to).name)});
        }
        run_.nothing = pairs.empty();
        if (pairs.empty()) return {};
        for (const auto &place : arena.places()) {
            run_.emulated = run_.emulated || device_.tier(place.tier).reality != HBF_REALITY_REAL;
            if (asked && place.bytes < bytes)
                run_.notes.push_back(fmt::format("{}: regions of {}, less than asked for: it has no more room",
                                                 device_.tier(place.tier).name, format_size(place.bytes)));
        }
        begin_ = Clock::now();
        plan(arena, pairs);
        begin_ = Clock::now(); // the trial's seconds are not the run's; what it compared counts
        hooks_.say(run_.plan);
        iterate(arena, small, pairs);
        run_.seconds = elapsed();
        run_.interrupted = hooks_.stop();
        run_.counters_after = device_counters(device_);
        return {};
    }

private:
    using TierPair = std::pair<uint32_t, uint32_t>;

    static const Arena::Place *place_of(const Arena &arena, uint32_t tier) {
        for (const auto &place : arena.places())
            if (place.tier == tier) return &place;
        return nullptr;
    }
    double elapsed() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
    bool stop() const { return hooks_.stop() || (limit_ > 0 && elapsed() >= limit_) || enough(); }
    bool enough() const { return run_.bits_wanted > 0 && run_.tally.bits_compared() >= run_.bits_wanted; }

    tl::expected<std::vector<TierPair>, std::string> wanted_pairs(const std::vector<uint32_t> &tiers) const {
        std::vector<TierPair> out;
        std::vector<std::string> names;
        for (const uint32_t tier : tiers) names.emplace_back(device_.tier(tier).name);
        const auto index = [&](const std::string &name) -> std::optional<uint32_t> {
            const auto found = std::find(names.begin(), names.end(), name);
            if (found == names.end()) return std::nullopt;
            return tiers[static_cast<size_t>(found - names.begin())];
        };
        for (const uint32_t from : tiers)
            for (const uint32_t to : tiers) out.emplace_back(from, to);
        if (run_.options.pairs.empty()) return out;
        std::vector<TierPair> some;
        for (const auto &text : run_.options.pairs) {
            const auto arrow = text.find("->");
            for (const auto &name : {text.substr(0, arrow), arrow == text.npos ? text : text.substr(arrow + 2)}) {
                if (!index(name))
                    return tl::unexpected(fmt::format("--pairs {}: no tier '{}'{}; 'hbf probe' lists them", text, name,
                                                      did_you_mean(name, names)));
            }
            const auto from = *index(text.substr(0, arrow)), to = *index(arrow == text.npos ? text : text.substr(arrow + 2));
            for (const auto &pair : out) {
                const bool taken =
                    arrow == text.npos ? pair.first == from || pair.second == from : pair == TierPair{from, to};
                if (taken && std::find(some.begin(), some.end(), pair) == some.end()) some.push_back(pair);
            }
        }
        return some;
    }

    Hooks route_hooks() {
        Hooks hooks;
        hooks.stop = [this] { return stop(); };
        hooks.compared = [this](uint64_t) { progress(); };
        hooks.now = [this] { return elapsed(); };
        hooks.temperature = [this] { return temperature(); };
        return hooks;
    }

    std::optional<uint64_t> temperature() const {
        std::optional<uint64_t> hottest;
        if (!device_.health_table()) return hottest;
        for (const auto &reading : device_.must_read_health())
            if (reading.kind == HBF_READING_GAUGE && std::string_view(reading.unit) == "celsius")
                hottest = std::max(hottest.value_or(0), reading.value);
        return hottest;
    }

    // How far it goes, with the time that a trial of each pair foretells.
    void plan(Arena &arena, const std::vector<Pair> &pairs) {
        const auto &options = run_.options;
        if (options.rate <= 0) {
            limit_ = options.seconds > 0 ? options.seconds : options.iterations == 0 ? default_seconds : 0;
            run_.plan = limit_ > 0 ? "until " + text_of_duration(limit_) + " are over" : "";
            if (options.iterations != 0)
                run_.plan += fmt::format("{}{} iteration{}", limit_ > 0 ? ", or " : "", options.iterations,
                                         options.iterations == 1 ? "" : "s");
            return;
        }
        run_.bits_wanted = bits_needed(options.confidence, options.rate);
        limit_ = options.seconds;
        double bytes = 0;
        for (const auto &pair : pairs) {
            Arena::Place from = *pair.from, to = *pair.to;
            from.bytes = std::min(from.bytes, trial_bytes);
            Route route(arena, from, to, run_.tally, route_hooks());
            route.pass({Pattern::address_hash, 0, options.seed, ++generation_});
            bytes += static_cast<double>(route.bytes());
            if (hooks_.stop()) break;
        }
        const double rate = bytes / elapsed();
        run_.plan = fmt::format("{:.3g} bits ({:.3g} GB) to exclude a rate of {:g} per bit with {} confidence: about {} at "
                                "{:.2f} GB/s{}",
                                run_.bits_wanted, run_.bits_wanted / 8e9, options.rate, percent_text(options.confidence),
                                text_of_duration(run_.bits_wanted / 8 / rate), rate * 1e-9,
                                limit_ > 0 ? ", " + text_of_duration(limit_) + " at most" : "");
    }

    void iterate(Arena &arena, Arena &small, const std::vector<Pair> &pairs) {
        std::vector<Route> routes, witnesses;
        for (const auto &pair : pairs) routes.emplace_back(arena, *pair.from, *pair.to, run_.tally, route_hooks());
        for (auto &route : routes)
            if (!route.poisoned()) route.poison(run_.options.seed);
        const bool watched = has(Pattern::witness);
        const Datum witness{Pattern::witness, 0, run_.options.seed, ++generation_};
        if (watched) {
            for (const auto &place : small.places()) witnesses.emplace_back(small, place, place, run_.tally, route_hooks());
            for (auto &one : witnesses) one.put(witness);
        }
        for (uint64_t iteration = 0; !stop(); ++iteration) {
            if (run_.options.iterations != 0 && iteration >= run_.options.iterations) break;
            for (const auto pattern : run_.patterns) {
                for (size_t i = 0; i < routes.size() && !stop(); ++i) {
                    now_ = fmt::format("iteration {}, {} {}, {}", iteration + 1, info_of(pattern).id, info_of(pattern).name,
                                       pairs[i].name);
                    const double before = elapsed();
                    if (pattern != Pattern::witness) one(routes[i], pattern);
                    routes[i].pair().seconds += elapsed() - before;
                }
                if (pattern == Pattern::witness)
                    for (auto &route : witnesses) route.look(witness);
            }
            if (!stop() || (run_.options.iterations != 0 && iteration + 1 == run_.options.iterations && !hooks_.stop()))
                ++run_.iterations;
        }
    }

    bool has(Pattern pattern) const {
        return std::find(run_.patterns.begin(), run_.patterns.end(), pattern) != run_.patterns.end();
    }

    void one(Route &route, Pattern pattern) {
        const uint32_t seed = run_.options.seed;
        switch (pattern) {
        case Pattern::moving_inversions:
            route.march(seed, ++generation_);
            return;
        case Pattern::block_move:
            route.block_move(seed, ++generation_, moves);
            return;
        case Pattern::modulo_20:
            for (uint32_t pass = 0; pass < 2 && !stop(); ++pass) route.every_twentieth({pattern, pass, seed, ++generation_});
            return;
        case Pattern::bit_fade:
            for (uint32_t pass = 0; pass < 2 && !stop(); ++pass) {
                const Datum datum{pattern, pass, seed, ++generation_};
                if (!route.pass(datum)) return;
                for (const double until = elapsed() + run_.options.idle_s; elapsed() < until && !stop();) {
                    now_ = fmt::format("{}: resting, {:.0f} s left", info_of(pattern).name, until - elapsed());
                    progress();
                    const timespec moment{0, 100'000'000};
                    nanosleep(&moment, nullptr);
                }
                route.look(datum);
            }
            return;
        default:
            for (uint32_t pass = 0; pass < info_of(pattern).passes && !stop(); ++pass)
                route.pass({pattern, pass, seed, ++generation_});
        }
    }

    void progress() {
        const double seconds = elapsed(), bytes = run_.tally.bits_compared() / 8;
        if (seconds - told_ < 0.2) return;
        told_ = seconds;
        double left = limit_ > 0 ? limit_ - seconds : 0;
        if (run_.bits_wanted > 0 && bytes > 0) {
            const double of_bits = (run_.bits_wanted / 8 - bytes) / (bytes / seconds);
            left = limit_ > 0 ? std::min(left, of_bits) : of_bits;
        }
        hooks_.progress(fmt::format("{}: {:.1f} GB compared, {:.2f} GB/s, {} wrong words{}", now_, bytes * 1e-9,
                                    bytes / seconds * 1e-9, run_.tally.wrong_words(),
                                    left > 0 ? ", " + text_of_duration(left) + " left" : ""));
    }

    CorruptionRun &run_;
    const CorruptionHooks &hooks_;
    conformance::Instance &device_;
    Clock::time_point begin_ = Clock::now();
    double limit_ = 0, told_ = -1;
    uint32_t generation_ = 0;
    std::string now_ = "start";
};

} // namespace

Counters device_counters(const conformance::Instance &device) {
    Counters out;
    if (!device.health_table()) return out;
    for (const auto &reading : device.must_read_health())
        if (reading.kind == HBF_READING_COUNTER && std::string_view(reading.unit) == "errors")
            out.emplace_back(reading.name, reading.value);
    return out;
}

tl::expected<std::vector<Pattern>, std::string> chosen_patterns(const std::vector<std::string> &names) {
    std::vector<Pattern> out;
    if (names.empty()) {
        for (const auto &one : patterns())
            if (one.pattern != Pattern::bit_fade) out.push_back(one.pattern);
        return out;
    }
    std::vector<std::string> known;
    for (const auto &one : patterns()) known.emplace_back(one.name);
    for (const auto &name : names) {
        const auto pattern = pattern_from(name);
        if (!pattern)
            return tl::unexpected(fmt::format("--pattern {}: there is none of that name{}; p0 to p11, or a name of --help",
                                              name, did_you_mean(name, known)));
        if (std::find(out.begin(), out.end(), *pattern) == out.end()) out.push_back(*pattern);
    }
    return out;
}

tl::expected<void, std::string> run_corruption(conformance::Subject &subject, CorruptionRun &run,
                                               const CorruptionHooks &hooks) {
    try {
        run.plugin = subject.plugin().name;
        run.plugin_version = subject.plugin().version;
        run.plugin_file = subject.options().plugin_file;
        const auto device = subject.must_probe();
        run.device = device.id;
        run.device_name = device.name;
        run.emulated = device.reality != HBF_REALITY_REAL;
        return Test(subject, run, hooks).execute();
    } catch (const conformance::Verdict &verdict) {
        run.trouble = verdict.reason;
        return {};
    }
}

} // namespace hbf::integrity
