// SPDX-License-Identifier: Apache-2.0
// A shape and its controls, run in turn under configurations that are drawn and kept by how often they show the controls,
// until enough is known: a verdict needs controls that were seen.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/litmus/runner.hpp"
#include "conformance/litmus/shapes.hpp"

namespace hbf::litmus {

// How often a control must be seen, so that a violation as frequent is missed with probability 1 - confidence at most:
// ceil(-ln(1 - confidence)).
uint64_t needed_sightings(double confidence); // 0.999: 7
inline constexpr uint64_t enough_sightings = 7;

struct Budget {
    double least_s = 0.2; // of the shape and its controls together
    double most_s = 5;    // what a busy machine is given until a control was seen
    uint64_t sightings = enough_sightings;
};

struct ControlResult {
    const Control *control = nullptr;
    uint64_t seen = 0, instances = 0;
    double seconds = 0;
    double rate() const { return seconds > 0 ? static_cast<double>(seen) / seconds : 0; } // sightings a second
};

enum class Finding : uint8_t {
    holds,        // no violation, and a control was seen often enough
    violated,     // seen twice, or once with the control seen again afterwards
    inconclusive, // no control was seen often enough in the time given
};

struct Report {
    const Shape *shape = nullptr;
    Histogram histogram;
    double seconds = 0; // of the shape itself
    std::vector<ControlResult> controls;
    std::vector<Dump> dumps;
    unsigned configs = 0; // tried
    Config best;          // showed controls most often
    Finding finding = Finding::inconclusive;

    uint64_t violations() const { return histogram.violations(*shape); }
    // That a violation as frequent as the control seen most often would have been seen in this time; 0 without one.
    double confidence() const;
};

// The report points into `test`.
Report run_campaign(Runner &runner, const ShapeTest &test, const Budget &budget, uint64_t seed);
Report run_campaign(Runner &runner, const ShapeTest &&test, const Budget &budget, uint64_t seed) = delete;

// "Observation MP.rel.acq Never 0/1.2e8", as litmus7 says it.
std::string observation_line(const Shape &shape, const Histogram &histogram);
// "mutation score 2/2, weakest MP.turned 2.1/s, confidence 99.9% in 0.4 s, 12 configurations, best 0x1234abcd (...)"
std::string score_line(const Report &report);

} // namespace hbf::litmus
