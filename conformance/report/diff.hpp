// SPDX-License-Identifier: Apache-2.0
// What changed between two runs (a new driver, another machine): cases by their status, figures by their intervals.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conformance/runner/record.hpp"

namespace hbf::conformance {

enum class Change { worse, better, same, other }; // other: there is no better or worse about it

struct Difference {
    std::string what; // "dma.copy.d2d.same_tier", or "bandwidth.h2d...: bandwidth.copy"
    std::string before, after;
    Change change = Change::other;
    std::string detail = {};
};

struct Ratio {
    double middle = 1, low = 1, high = 1; // after / before
};
// Of two figures whose 95 % intervals are known: the ratio lies in [low, high] with at least 90 %, whatever the
// distributions are (both intervals hold at once with at least 1 - 2 * 5 %). Nothing where a figure has none.
std::optional<Ratio> ratio_of(const Metric &before, const Metric &after);

struct Comparison {
    std::vector<Difference> setting; // plugin, driver, host, profile: what was not the same to begin with
    std::vector<Difference> cases;   // status changed, or there on one side only
    std::vector<Difference> figures; // whose whole interval lies beyond `tolerance`
    size_t common_cases = 0, compared_figures = 0;
    size_t figures_without_interval = 0; // not compared

    bool worse() const;
};
// tolerance: as a share, 0.02: a figure has changed when its ratio's whole interval is beyond 1 +- 0.02.
Comparison compare(const RunRecord &before, const RunRecord &after, double tolerance);

std::string comparison_text(const Comparison &comparison);
std::string comparison_json(const Comparison &comparison);
// 0 nothing got worse, 1 something did, 3 no case is common to both.
int exit_code(const Comparison &comparison);

} // namespace hbf::conformance
