// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "conformance/measure/histogram.hpp"
#include "conformance/measure/statistics.hpp"

namespace hbf::measure {
namespace {

TEST(MedianRanks, FewerThanSixSayNothing) {
    for (size_t n = 0; n < 6; ++n) EXPECT_FALSE(median_ranks(n)) << n;
}

struct Published {
    size_t n, low, high;
    double coverage;
};

TEST(MedianRanks, AreThePublishedOnes) {
    for (auto p : {Published{6, 1, 6, 0.969},
                   {10, 2, 9, 0.979},
                   {15, 4, 12, 0.965},
                   {20, 6, 15, 0.959},
                   {30, 10, 21, 0.957},
                   {50, 18, 33, 0.967},
                   {100, 40, 61, 0.965}}) {
        auto ranks = median_ranks(p.n);
        ASSERT_TRUE(ranks) << p.n;
        EXPECT_EQ(ranks->low, p.low) << p.n;
        EXPECT_EQ(ranks->high, p.high) << p.n;
        EXPECT_NEAR(ranks->coverage, p.coverage, 0.001) << p.n;
    }
}

TEST(MedianRanks, HoldForLongRunsToo) {
    auto ranks = median_ranks(100000);
    ASSERT_TRUE(ranks);
    EXPECT_GE(ranks->coverage, 0.95);
    EXPECT_LT(ranks->coverage, 0.952);
    EXPECT_EQ(ranks->low + ranks->high, 100001u);
}

// The interval must hold the true median in at least 95 of 100 runs, whatever the distribution.
TEST(MedianRanks, CoverTheTrueMedian) {
    std::mt19937_64 random(7);
    std::exponential_distribution<double> skewed(1.0);
    const double truth = std::log(2.0);
    int inside = 0;
    constexpr int runs = 2000;
    for (int run = 0; run < runs; ++run) {
        std::vector<double> samples(15);
        for (auto &s : samples) s = skewed(random);
        auto summary = summarize(samples);
        inside += summary.ci95->low <= truth && truth <= summary.ci95->high;
    }
    EXPECT_GE(inside, runs * 0.955);
    EXPECT_LE(inside, runs * 0.975);
}

TEST(Summary, DropsNothing) {
    auto s = summarize({9, 1, 5, 3, 7, 100});
    EXPECT_EQ(s.count, 6u);
    EXPECT_DOUBLE_EQ(s.min, 1);
    EXPECT_DOUBLE_EQ(s.max, 100);
    EXPECT_DOUBLE_EQ(s.median, 6);
    ASSERT_TRUE(s.ci95);
    EXPECT_DOUBLE_EQ(s.ci95->low, 1);
    EXPECT_DOUBLE_EQ(s.ci95->high, 100);
    EXPECT_NEAR(*s.half_width(), 94.0 / 6, 1e-12); // the larger half
}

TEST(Summary, OfFewHasNoInterval) {
    auto s = summarize({1, 2, 3, 4, 5});
    EXPECT_FALSE(s.ci95);
    EXPECT_FALSE(s.half_width());
    EXPECT_EQ(summarize({}).count, 0u);
}

TEST(Quantile, IsLinearBetweenRanks) {
    const std::vector<double> sorted{0, 10, 20, 30};
    EXPECT_DOUBLE_EQ(quantile(sorted, 0), 0);
    EXPECT_DOUBLE_EQ(quantile(sorted, 1), 30);
    EXPECT_DOUBLE_EQ(quantile(sorted, 0.5), 15);
}

TEST(Histogram, KeepsTwoDigits) {
    std::mt19937_64 random(3);
    Histogram h;
    std::vector<uint64_t> all;
    for (int i = 0; i < 10000; ++i) {
        auto value = uint64_t{1} << (random() % 40);
        value += random() % value;
        all.push_back(value);
        h.record(value);
    }
    std::sort(all.begin(), all.end());
    for (double q : {0.01, 0.5, 0.9, 0.99, 0.999, 1.0}) {
        auto exact = all[static_cast<size_t>(std::ceil(q * 10000)) - 1];
        EXPECT_GE(h.quantile(q), exact);
        EXPECT_LE(static_cast<double>(h.quantile(q)), static_cast<double>(exact) * 1.017);
    }
    EXPECT_EQ(h.max(), all.back());
    EXPECT_EQ(h.count(), 10000u);
    h.record(UINT64_MAX);
    EXPECT_EQ(h.quantile(1), UINT64_MAX);
    EXPECT_EQ(Histogram().quantile(0.5), 0u);
}

} // namespace
} // namespace hbf::measure
