// SPDX-License-Identifier: Apache-2.0
#include "conformance/measure/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace hbf::measure {

std::optional<MedianRanks> median_ranks(size_t samples, double confidence) {
    // The median lies below rank j with P(X < j), X ~ Binomial(n, 1/2); by symmetry as often above rank n+1-j. In
    // logarithms, since 2^-n is no double for a long run.
    const double n = static_cast<double>(samples);
    std::optional<MedianRanks> best;
    double tail = 0; // P(X <= j-1)
    for (size_t j = 1; 2 * j <= samples; ++j) {
        const double k = static_cast<double>(j - 1);
        tail += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) - n * std::log(2.0));
        const double coverage = 1 - 2 * tail;
        if (coverage < confidence) break;
        best = MedianRanks{j, samples + 1 - j, coverage};
    }
    return best;
}

double quantile(const std::vector<double> &sorted, double q) {
    const double position = q * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<size_t>(position);
    const size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::optional<double> Summary::half_width() const {
    if (!ci95 || median <= 0) return std::nullopt;
    return std::max(ci95->high - median, median - ci95->low) / median;
}

Summary summarize(std::vector<double> samples) {
    Summary out;
    out.count = samples.size();
    if (samples.empty()) return out;
    std::sort(samples.begin(), samples.end());
    out.median = quantile(samples, 0.5);
    out.min = samples.front();
    out.max = samples.back();
    out.p5 = quantile(samples, 0.05);
    out.p95 = quantile(samples, 0.95);
    out.p99 = quantile(samples, 0.99);
    if (auto ranks = median_ranks(samples.size())) out.ci95 = Interval{samples[ranks->low - 1], samples[ranks->high - 1]};
    return out;
}

} // namespace hbf::measure
