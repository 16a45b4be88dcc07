// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "core/engine/summaries/index.hpp"
#include "core/engine/summaries/projection.hpp"

namespace hbf::kv::summaries {
namespace {

// Rows in a few directions, and noise in all.
std::vector<float> rows(size_t count, uint32_t width, uint32_t directions, uint64_t seed, uint64_t space = 7) {
    std::mt19937_64 where(space), dice(seed);
    std::normal_distribution<float> normal;
    std::vector<float> basis(size_t{directions} * width), out(count * width);
    for (float &x : basis) x = normal(where);
    for (size_t row = 0; row < count; ++row) {
        for (uint32_t k = 0; k < directions; ++k) {
            const float much = normal(dice);
            for (uint32_t i = 0; i < width; ++i) out[row * width + i] += much * basis[size_t{k} * width + i];
        }
        for (uint32_t i = 0; i < width; ++i) out[row * width + i] += 0.3F * normal(dice);
    }
    return out;
}

// Summaries around centres, of length 1.
std::vector<std::vector<float>> clustered(size_t count, uint32_t width, size_t centres) {
    std::mt19937_64 dice(3);
    std::normal_distribution<float> normal;
    std::vector<std::vector<float>> middle(centres, std::vector<float>(width)), out;
    for (auto &one : middle)
        for (float &x : one) x = normal(dice);
    for (size_t i = 0; i < count; ++i) {
        auto one = middle[i % centres];
        double square = 0;
        for (float &x : one) {
            x += 0.4F * normal(dice);
            square += static_cast<double>(x) * x;
        }
        for (float &x : one) x = static_cast<float>(x / std::sqrt(square));
        out.push_back(std::move(one));
    }
    return out;
}

std::unique_ptr<SummaryIndex> made(uint32_t dimension, IndexKind kind) {
    auto index = SummaryIndex::make(dimension, kind);
    EXPECT_TRUE(index) << index.error().message;
    return std::move(*index);
}

double recall(const SummaryIndex &index, const SummaryIndex &exact, const std::vector<std::vector<float>> &queries) {
    size_t right = 0, all = 0;
    for (size_t q = 0; q < queries.size(); q += queries.size() / 20) {
        Found found[10], best[10];
        const size_t count = index.search(queries[q], found), truth = exact.search(queries[q], best);
        for (size_t i = 0; i < truth; ++i) {
            ++all;
            right += std::any_of(found, found + count, [&](const Found &one) { return one.block == best[i].block; });
        }
    }
    return static_cast<double>(right) / static_cast<double>(all);
}

TEST(SummaryIndex, AScanIsExactAndInOrder) {
    const auto index = made(2, IndexKind::flat);
    for (BlockId i = 0; i < 50; ++i) ASSERT_TRUE(index->add(i, std::vector<float>{static_cast<float>(i), 1}));
    Found found[3];
    ASSERT_EQ(index->search(std::vector<float>{1, 0}, found), 3u);
    EXPECT_EQ(found[0].block, 49u);
    EXPECT_EQ(found[2].block, 47u);
    EXPECT_EQ(found[0].likeness, 49);
    index->remove(49);
    index->remove(49);
    ASSERT_TRUE(index->add(47, std::vector<float>{0, 0})); // replaced
    EXPECT_EQ(index->size(), 49u);
    ASSERT_EQ(index->search(std::vector<float>{1, 0}, found), 3u);
    EXPECT_EQ(found[0].block, 48u);
    EXPECT_EQ(found[1].block, 46u);
}

TEST(SummaryIndex, WhatIsWrongIsRefused) {
    EXPECT_EQ(SummaryIndex::make(0).error().code, Code::invalid);
    const auto index = made(4, IndexKind::automatic);
    EXPECT_EQ(index->add(1, std::vector<float>(3)).error().code, Code::invalid);
    EXPECT_EQ(index->add(1, std::vector<float>{0, NAN, 0, 0}).error().code, Code::invalid);
    EXPECT_EQ(index->size(), 0u);
    Found found[2];
    EXPECT_EQ(index->search(std::vector<float>(4), found), 0u);
    EXPECT_EQ(index->search(std::vector<float>(5), found), 0u);
}

TEST(SummaryIndex, ManyAreFoundWithoutLookingAtAll) {
    if (!has_faiss()) GTEST_SKIP() << "this build has no FAISS";
    constexpr uint32_t width = 48;
    const auto vectors = clustered(SummaryIndex::many + 500, width, 300);
    const auto exact = made(width, IndexKind::flat), index = made(width, IndexKind::automatic);
    for (BlockId i = 0; i < vectors.size(); ++i) {
        ASSERT_TRUE(index->add(i, vectors[i]));
        if (i == 100) {
            EXPECT_EQ(index->kind(), IndexKind::flat);
        }
        if (i % 5 != 0) {
            ASSERT_TRUE(exact->add(i, vectors[i]));
        }
    }
    EXPECT_EQ(index->kind(), IndexKind::ivf_pq);
    EXPECT_LT(index->bytes(), exact->bytes() / 2);
    for (BlockId i = 0; i < vectors.size(); i += 5) index->remove(i);
    EXPECT_EQ(index->size(), exact->size());
    EXPECT_GT(recall(*index, *exact, vectors), 0.3); // of the very ten; codes of 12 bytes cannot tell neighbours apart
    Found found[10];
    size_t same = 0, count = 0; // but of the same centre nearly all are
    for (BlockId i = 1; i < 2000; i += 100) {
        count += index->search(vectors[i], found);
        for (const Found &one : found) {
            EXPECT_NE(one.block % 5, 0u); // removed
            same += one.block % 300 == i % 300;
        }
    }
    EXPECT_EQ(count, 200u);
    EXPECT_GT(same, 180u);
}

TEST(SummaryIndex, AGraphForgetsWhatWasReplaced) {
    if (!has_faiss()) GTEST_SKIP() << "this build has no FAISS";
    constexpr uint32_t width = 32;
    const auto vectors = clustered(1500, width, 60);
    const auto exact = made(width, IndexKind::flat), index = made(width, IndexKind::hnsw);
    for (BlockId i = 0; i < vectors.size(); ++i) {
        ASSERT_TRUE(index->add(i, vectors[(i + 700) % vectors.size()]));
        ASSERT_TRUE(exact->add(i, vectors[i]));
    }
    EXPECT_EQ(index->kind(), IndexKind::hnsw);
    for (BlockId i = 0; i < vectors.size(); ++i) ASSERT_TRUE(index->add(i, vectors[i]));
    EXPECT_EQ(index->size(), vectors.size());
    EXPECT_GT(recall(*index, *exact, vectors), 0.85);
}

TEST(Projection, KeepsWhatTheCorpusConsistsOfAndNoticesAnother) {
    if (!has_faiss()) GTEST_SKIP() << "this build has no FAISS";
    constexpr uint32_t width = 512;
    auto fitted = Projection::fit(rows(600, width, 20, 1), width, 128);
    ASSERT_TRUE(fitted) << fitted.error().message;
    EXPECT_GT(fitted->retained(), 0.95);
    EXPECT_LE(fitted->retained(), 1.0);
    const auto same = rows(100, width, 20, 2), other = rows(100, width, 20, 2, 99);
    EXPECT_GT(fitted->retained_of(same), 0.95);
    EXPECT_FALSE(fitted->is_foreign(same));
    EXPECT_LT(fitted->retained_of(other), 0.6);
    EXPECT_TRUE(fitted->is_foreign(other));
    EXPECT_FALSE(fitted->is_foreign(std::span(other).first(10 * width))); // too few to tell

    std::vector<float> projected(100 * 128), summary(128);
    fitted->apply(same, projected);
    fitted->pool(projected, summary);
    double square = 0;
    for (const float x : summary) square += static_cast<double>(x) * x;
    EXPECT_NEAR(square, 1, 1e-5);
    fitted->pool({}, summary);
    EXPECT_EQ(summary, std::vector<float>(128));
}

TEST(Projection, TooFewDimensionsOrRowsAreRefused) {
    if (!has_faiss()) {
        EXPECT_EQ(Projection::fit({}, 512, 128).error().code, Code::unsupported);
        return;
    }
    const auto some = rows(600, 512, 5, 1);
    EXPECT_NE(Projection::fit(some, 256, 128).error().message.find("at least 512"), std::string::npos);
    EXPECT_NE(Projection::fit(some, 512, 64).error().message.find("64"), std::string::npos);
    EXPECT_FALSE(Projection::fit(some, 512, 600));
    EXPECT_FALSE(Projection::fit(std::span(some).first(512 * 500), 512, 128));
    EXPECT_FALSE(Projection::fit(std::vector<float>(512 * 512, 1), 512, 128)); // all alike
    auto odd = some;
    odd[512 * 3 + 5] = INFINITY;
    EXPECT_NE(Projection::fit(odd, 512, 128).error().message.find("row 3"), std::string::npos);
}

} // namespace
} // namespace hbf::kv::summaries
