// SPDX-License-Identifier: Apache-2.0
// What a running case has: the plugin under test, its seed and share of time, and ways to say what it found.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conformance/measure/splitmix.hpp"
#include "conformance/suite/case.hpp"
#include "conformance/suite/subject.hpp"
#include "conformance/suite/verdict.hpp"

namespace hbf::conformance {

// Thrown by everything that ends a case; caught where the case was started (child.cpp), and by run_threads (threads.hpp).
struct Verdict {
    Status status = Status::internal_error;
    std::string reason;
    std::vector<Evidence> evidence = {};
};

[[noreturn]] void fail(std::string reason);
[[noreturn]] void fail(std::string reason, Evidence evidence);

// A legitimate call that a case only builds on: ends the case as fail unless it went well. One check, wherever it stands.
template <class... A>
void must(const Call &call, fmt::format_string<A...> what, A &&...args) {
    if (!call.ok()) fail(fmt::format("{}: {}", fmt::format(what, std::forward<A>(args)...), to_string(call)));
}
template <class... A>
void must(hbf_status status, fmt::format_string<A...> what, A &&...args) {
    must(Call{status, {}}, what, std::forward<A>(args)...);
}

// check, metric, note, series, evidence and warn are callable from any thread of the case.
class Context {
public:
    Context(const Case &entry, Subject &subject, uint64_t seed, Profile profile)
        : entry_(&entry), subject_(&subject), seed_(seed), profile_(profile) {}

    const Case &entry() const { return *entry_; }
    Subject &subject() { return *subject_; }
    Instance &device() { return subject_->instance(); } // the first instance
    uint64_t seed() const { return seed_; }             // of this case: hash(base seed, name)
    Profile profile() const { return profile_; }
    double budget_s() const; // CaseInfo::budget_s, 10 or 100 times as much under full and soak
    // `quick`, or `full` or `soak` of that profile: how many rounds, bytes, ...
    uint64_t scaled(uint64_t quick, uint64_t full, uint64_t soak) const;
    bool time_left() const; // budget_s not used up yet since the case began

    // Counts; a false one ends the case as fail.
    template <class... A>
    void check(bool good, fmt::format_string<A...> text, A &&...args) {
        count_check();
        if (!good) fail(fmt::format(text, std::forward<A>(args)...));
    }
    // Counts; `actual` must be `expected`, and if that is a failure it must have left a message.
    void check_status(const Call &actual, hbf_status expected, std::string_view what);
    void count_check() { checks_.fetch_add(1, std::memory_order_relaxed); } // a check that was made in other words

    [[noreturn]] void not_supported(std::string reason);  // only for what the plugin does not declare
    [[noreturn]] void not_observable(std::string reason); // says what the machine would need
    [[noreturn]] void inconclusive(std::string reason);
    void warn_capability(std::string reason); // the case goes on
    void warn_quality(std::string reason);
    void metric(Metric metric);
    void series(Series series);
    void note(std::string text);
    void evidence(Evidence evidence); // kept, also if the case passes or fails otherwise

    // What child.cpp puts into the record.
    struct Findings {
        uint64_t checks = 0;
        std::vector<Metric> metrics;
        std::vector<Series> series;
        std::vector<std::string> notes, warnings_quality, warnings_capability;
        std::vector<Evidence> evidence;
    };
    Findings findings() const;

private:
    const Case *entry_;
    Subject *subject_;
    uint64_t seed_;
    Profile profile_;
    double started_s_ = now_s();
    std::atomic<uint64_t> checks_{0};
    mutable std::mutex mutex_;
    Findings findings_;

    static double now_s(); // monotonic
};

// Deterministic random numbers from a seed: one per thread.
class Random : public SplitMix {
public:
    using SplitMix::SplitMix;
    uint64_t between(uint64_t low, uint64_t high) { return low + below(high - low + 1); } // both ends included
};

} // namespace hbf::conformance
