// SPDX-License-Identifier: Apache-2.0
// Statistics that assume no distribution: the median with a confidence interval by order statistics.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace hbf::measure {

// Ranks (1-based) of the sorted samples that enclose the median with at least `confidence`. Nothing below six samples at
// 95 %: fewer cannot say so.
struct MedianRanks {
    size_t low = 0, high = 0;
    double coverage = 0; // exact, from the binomial distribution
};
std::optional<MedianRanks> median_ranks(size_t samples, double confidence = 0.95);

struct Interval {
    double low = 0, high = 0;
};

struct Summary {
    size_t count = 0;
    double median = 0, min = 0, max = 0, p5 = 0, p95 = 0, p99 = 0;
    std::optional<Interval> ci95; // of the median

    // The larger half of the interval as a share of the median.
    std::optional<double> half_width() const;
};
Summary summarize(std::vector<double> samples); // all of them: none is dropped

double quantile(const std::vector<double> &sorted, double q); // linear between order statistics; sorted, not empty

} // namespace hbf::measure
