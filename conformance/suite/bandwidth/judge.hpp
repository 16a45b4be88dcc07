// SPDX-License-Identifier: Apache-2.0
// From samples to a verdict on speed, without a device: too fast to be true, too slow for what was declared, or neither.
//
// Robust on a machine shared with others: only the whole 95 % interval of the median counts, ceilings are taken from copies
// made in turn with the samples, and while others used the CPUs a declared floor counts for a twentieth.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conformance/measure/statistics.hpp"

namespace hbf::conformance {

inline constexpr double above_reference = 1.5; // times the fastest plain copy: no device that copies with CPUs does that
inline constexpr double above_declared = 1.05; // times the declared peak: no medium does that
inline constexpr double cache_gain = 20;       // times the declared peak: no cache in front of it does that
inline constexpr double tolerance = 0.5;       // of the declared peak: what copies of a good size reach at least
inline constexpr double contended_share = 1.0 / 20;
inline constexpr double slow_start_ns = 5e6; // a command's way through host and device, beside the medium's own latency
inline constexpr double slow_latency = 10;   // times the declared latency

struct Speed {
    std::vector<double> samples = {}; // B/s, at least six
    double reference = 0;             // B/s, the fastest plain copy of this run; 0: none applies
    double declared = 0;              // B/s, the path's; 0: not declared
    double both_ways = 0;             // B/s, what is declared for all that move at once; 0: no more than `declared`
    bool cold = true;                 // the bytes did not stay in a cache
    bool floor = true;                // the declared figure is a floor, too
    bool contended = false;           // others used the CPUs
};

struct Judgement {
    std::string_view fault_class = {}; // "" fine
    std::string reason = {}, note = {};
};

Judgement judge_speed(const Speed &speed);                                                          // [pure]
Judgement judge_latency(const std::vector<double> &medians_ns, double declared_ns, bool contended); // [pure]

// Lower and upper end of the median's interval; of all samples where they are too few for one.
measure::Interval interval_of(const std::vector<double> &samples); // [pure]

} // namespace hbf::conformance
