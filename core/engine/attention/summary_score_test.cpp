// SPDX-License-Identifier: Apache-2.0
// What vectors make of scores is what plain loops make of them, and never less mass than there is.
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "core/engine/attention/key_index.hpp"
#include "core/engine/attention/summary_score.hpp"
#include "core/engine/attention/testing/sequence.hpp"

namespace hbf::kv {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

TEST(SummaryScoreTest, MassesAreNeverTooSmallAndHardlyTooLarge) {
    std::mt19937_64 random(1);
    for (const size_t count : {size_t{16}, size_t{112}, size_t{4096}, size_t{65536}})
        for (const double spread : {0.1, 5.0, 40.0})
            for (const double known : {-30.0, 0.7, 55.0}) {
                std::normal_distribution<double> normal(known, spread);
                std::vector<float> scores(count), free(count);
                double exact = 0;
                for (size_t i = 0; i < count; ++i) {
                    scores[i] = static_cast<float>(std::min(normal(random), known + 60));
                    free[i] = random() % 4 ? 1.0f : 0.0f;
                    if (free[i] != 0) exact += std::exp(static_cast<double>(scores[i]) - known);
                }
                const double found = sum_of_masses(scores.data(), count, free.data(), known);
                EXPECT_GE(found, exact) << count << ", " << spread << ", " << known;
                EXPECT_LE(found, exact * (1 + 0x1p-14) + 1e-30) << count << ", " << spread << ", " << known;
            }
    std::vector<float> scores(16, 500.0f), none(16, 0.0f), all(16, 1.0f);
    EXPECT_EQ(sum_of_masses(scores.data(), 16, none.data(), 0), 0);
    EXPECT_GT(sum_of_masses(scores.data(), 16, all.data(), 0), 1e30) << "beyond what can be said";
    EXPECT_EQ(sum_of_masses(scores.data(), 16, all.data(), std::nan("")), HUGE_VAL);
    EXPECT_EQ(sum_of_masses(scores.data(), 16, all.data(), -HUGE_VAL), HUGE_VAL);
    std::fill(scores.begin(), scores.end(), -500.0f);
    EXPECT_GT(sum_of_masses(scores.data(), 16, all.data(), 0), 0) << "little is not nothing";
}

TEST(SummaryScoreTest, TheBestOfHeadsIsRelativeToEachHeadsBest) {
    std::mt19937_64 random(2);
    std::normal_distribution<float> normal(0, 20);
    constexpr size_t count = 96, stride = 112;
    constexpr uint32_t heads = 3;
    for (int round = 0; round < 20; ++round) {
        std::vector<float> scores(heads * stride), free(count), found(count), expected(count, -infinity);
        for (float &score : scores) score = normal(random);
        for (float &one : free) one = random() % 3 ? 1.0f : 0.0f;
        for (size_t i = 0; i < count; ++i)
            if (free[i] == 0) scores[i] = infinity; // nothing is known, so it was taken
        for (uint32_t head = 0; head < heads; ++head) {
            float best = -infinity;
            for (size_t i = 0; i < count; ++i)
                if (free[i] != 0) best = std::max(best, scores[head * stride + i]);
            for (size_t i = 0; i < count; ++i)
                if (free[i] != 0) expected[i] = std::max(expected[i], scores[head * stride + i] - best);
        }
        best_of_heads(scores.data(), heads, count, stride, free.data(), found.data());
        EXPECT_EQ(found, expected);
    }
}

// Heads side by side, in groups of four, two and one, come to what each alone does.
TEST(SummaryScoreTest, HeadsTogetherAreHeadsAlone) {
    std::mt19937_64 random(3);
    testing::Sequence sequence(7, 1, 48, HBF_ELEMENT_BF16);
    sequence.append_random(16 * 37 + 3, random);
    const auto blocks = sequence.blocks(16);
    const KeyIndex index = testing::index_of(blocks, 4);
    const size_t stride = size_t{index.tiles()} * 16;
    const auto query = testing::random_query(sequence.shape, 1, random);
    const std::vector<float> rounding{0, 1, 2, 3, 4, 5, 6};
    std::vector<float> upper(7 * stride), pooled(7 * stride), one(stride), mean(stride);
    index.score(0, query.data(), 7, rounding.data(), upper.data(), pooled.data(), stride);
    for (uint32_t head = 0; head < 7; ++head) {
        index.score(0, query.data() + head * 48, 1, &rounding[head], one.data(), mean.data(), stride);
        for (uint32_t block = 0; block < index.blocks(); ++block) {
            EXPECT_EQ(upper[head * stride + block], one[block]);
            EXPECT_EQ(pooled[head * stride + block], mean[block]);
        }
    }
}

// A block with room for another number of tokens than the index' shape says has bounds all the same.
TEST(SummaryScoreTest, BlocksOfAnotherSizeAreRead) {
    std::mt19937_64 random(4);
    testing::Sequence sequence(2, 2, 32, HBF_ELEMENT_FP16);
    sequence.append_random(48, random);
    const auto small = sequence.blocks(16), large = sequence.blocks(48);
    KeyIndex of_small = testing::index_of(small, 4), of_large = testing::index_of(large, 4);
    KeyIndex odd = testing::must(KeyIndex::make({small.shape, 4, 0}));
    testing::must(odd.add_tokens(0, large.bytes.data(), 0, 48, 48));
    EXPECT_FALSE(odd.all_have_sketches());
    EXPECT_TRUE(of_large.all_have_sketches());
    EXPECT_FALSE(odd.add_tokens(1, large.bytes.data(), 0, 48)) << "the shape has room for 16";
    EXPECT_FALSE(odd.add_tokens(1, large.bytes.data(), 0, 17, 40)) << "no such size";
    const auto query = testing::random_query(sequence.shape, 1, random);
    for (uint32_t head = 0; head < 2; ++head) {
        const float rounding = 0;
        std::vector<float> a(16), b(16), mean(16);
        odd.score(head, query.data(), 1, &rounding, a.data(), mean.data(), 16);
        of_large.score(head, query.data(), 1, &rounding, b.data(), mean.data(), 16);
        EXPECT_EQ(a[0], b[0]);
        EXPECT_EQ(odd.value_norm(0, head), of_large.value_norm(0, head));
        EXPECT_EQ(of_small.largest_value_norm(head), of_large.value_norm(0, head));
    }
    of_small.truncate(1);
    EXPECT_EQ(of_small.largest_value_norm(0), of_small.value_norm(0, 0));
}

} // namespace
} // namespace hbf::kv
