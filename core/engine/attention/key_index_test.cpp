// SPDX-License-Identifier: Apache-2.0
// The index of keys: its bounds are bounds, token by token or a block at once, for numbers that are none too.
#include "core/engine/attention/estimate.hpp"
#include "core/engine/attention/key_index.hpp"
#include "core/engine/attention/summary_score.hpp"
#include "core/engine/attention/testing/sequence.hpp"

namespace hbf::kv {
namespace {

using testing::Blocks;
using testing::index_of;
using testing::must;
using testing::random_query;
using testing::Sequence;

// Logarithm of a block's attention mass, exactly.
double mass_of(const Blocks &blocks, uint32_t block, uint32_t head, const float *query) {
    const auto &shape = blocks.shape;
    const uint32_t kv_head = head / (shape.query_heads / shape.kv_heads);
    const uint8_t *const bytes = blocks.bytes.data() + blocks.list[block].at.offset;
    double sum = 0;
    for (uint32_t token = 0; token < blocks.list[block].at.tokens; ++token) {
        double score = 0;
        for (uint32_t i = 0; i < shape.head_dim; ++i)
            score += static_cast<double>(query[head * shape.head_dim + i]) *
                     static_cast<double>(kernels::device::hbf_load_element(
                         bytes, shape.element, kernels::device::kv_key_index(shape, kv_head, token, i)));
        sum += std::exp(score * static_cast<double>(shape.scale));
    }
    return std::log(sum);
}

TEST(KeyIndexTest, BoundsHoldForEveryElementAndSketch) {
    std::mt19937_64 random(1);
    for (const uint32_t element : {HBF_ELEMENT_FP16, HBF_ELEMENT_BF16, HBF_ELEMENT_FP32})
        for (const uint32_t bits : {2u, 4u, 8u}) {
            Sequence sequence(6, 2, 64, element);
            sequence.append_random(700, random, 1.5);
            const Blocks blocks = sequence.blocks(32);
            const KeyIndex index = index_of(blocks, bits);
            Estimate estimate;
            for (int round = 0; round < 3; ++round) {
                const auto query = random_query(sequence.shape, 1, random, 2);
                for (uint32_t kv_head = 0; kv_head < 2; ++kv_head) {
                    estimate.summarise(index, kv_head, query.data() + kv_head * 3 * 64);
                    std::vector<uint32_t> some;
                    for (uint32_t b = 0; b + 1 < blocks.list.size(); b += 2) some.push_back(b);
                    const auto check = [&](const char *stage) {
                        for (uint32_t b = 0; b < blocks.list.size(); ++b)
                            for (uint32_t head = 0; head < 3; ++head) {
                                const double mass = mass_of(blocks, b, kv_head * 3 + head, query.data());
                                ASSERT_GE(static_cast<double>(estimate.upper(head, b)), mass)
                                    << stage << ", element " << element << ", bits " << bits << ", block " << b;
                            }
                    };
                    check("summaries");
                    const float before = estimate.upper(0, 0);
                    estimate.look_at(index, some);
                    check("sketches");
                    EXPECT_LT(estimate.upper(0, 0), before);
                    EXPECT_TRUE(estimate.looked_at(0));
                    EXPECT_FALSE(estimate.looked_at(1));
                    EXPECT_NEAR(static_cast<double>(estimate.middle(1, 2)),
                                mass_of(blocks, 2, kv_head * 3 + 1, query.data()),
                                bits == 2   ? 2.5
                                : bits == 4 ? 0.5
                                            : 0.05);
                }
            }
        }
}

// Where all keys of a block are the same, nothing is lost: the bound is the mass, tokens and all.
TEST(KeyIndexTest, BoundsOfEqualKeysAreExact) {
    std::mt19937_64 random(5);
    Sequence sequence(2, 1, 32, HBF_ELEMENT_FP32);
    const auto key = random_query(sequence.shape, 1, random), query = random_query(sequence.shape, 1, random);
    for (uint32_t token = 0; token < 40; ++token) sequence.append(key.data(), key.data());
    const Blocks blocks = sequence.blocks(32);
    const KeyIndex index = index_of(blocks, 4);
    Estimate estimate;
    estimate.summarise(index, 0, query.data());
    for (uint32_t block = 0; block < 2; ++block)
        for (uint32_t head = 0; head < 2; ++head) {
            const double mass = mass_of(blocks, block, head, query.data());
            EXPECT_GE(static_cast<double>(estimate.upper(head, block)), mass);
            EXPECT_NEAR(static_cast<double>(estimate.upper(head, block)), mass, 1e-3);
            EXPECT_NEAR(static_cast<double>(estimate.pooled(head, block)), mass, 1e-3);
        }
}

TEST(KeyIndexTest, TokenByTokenIsTheSame) {
    std::mt19937_64 random(2);
    Sequence sequence(2, 2, 32, HBF_ELEMENT_FP16);
    sequence.append_random(100, random);
    const Blocks blocks = sequence.blocks(32);
    const KeyIndex at_once = index_of(blocks, 4);
    KeyIndex slowly = must(KeyIndex::make({blocks.shape, 4, 0}));
    for (uint32_t token = 0; token < 100; ++token)
        must(slowly.add_tokens(token / 32, blocks.bytes.data() + blocks.list[token / 32].at.offset, token % 32, 1));
    const auto query = random_query(sequence.shape, 1, random);
    for (uint32_t head = 0; head < 2; ++head) {
        std::vector<float> a(16), b(16), mean_a(16), mean_b(16);
        const float rounding = 0;
        at_once.score(head, query.data(), 1, &rounding, a.data(), mean_a.data(), 16);
        slowly.score(head, query.data(), 1, &rounding, b.data(), mean_b.data(), 16);
        for (uint32_t block = 0; block < 4; ++block) {
            EXPECT_EQ(a[block], b[block]);
            EXPECT_NEAR(mean_a[block], mean_b[block], 0.1);
            EXPECT_EQ(at_once.value_norm(block, head), slowly.value_norm(block, head));
        }
    }
    EXPECT_FALSE(slowly.has_sketch(0));
    EXPECT_TRUE(at_once.has_sketch(0));
    EXPECT_FALSE(at_once.has_sketch(3));
}

TEST(KeyIndexTest, OfNumbersThatAreNoneNothingIsKnown) {
    std::mt19937_64 random(3);
    for (const double odd : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
        Sequence sequence(1, 1, 32, HBF_ELEMENT_FP16);
        sequence.append_random(20, random);
        std::vector<double> key(32, 0.5), value(32, 0.5);
        key[7] = odd, value[3] = odd;
        sequence.append(key.data(), value.data());
        sequence.append_random(43, random);
        const Blocks blocks = sequence.blocks(16);
        const KeyIndex index = index_of(blocks, 4);
        Estimate estimate;
        auto query = random_query(sequence.shape, 1, random);
        for (const float of_channel : {1.0f, -1.0f, 0.0f}) {
            query[7] = of_channel;
            estimate.summarise(index, 0, query.data());
            EXPECT_EQ(estimate.upper(0, 1), std::numeric_limits<float>::infinity());
            EXPECT_TRUE(std::isfinite(estimate.upper(0, 0)));
            EXPECT_EQ(index.value_norm(1, 0), std::numeric_limits<float>::infinity());
        }
    }
}

TEST(KeyIndexTest, GoesBackAndRefusesDisorder) {
    std::mt19937_64 random(4);
    Sequence sequence(2, 1, 32, HBF_ELEMENT_FP32);
    sequence.append_random(200, random);
    const Blocks blocks = sequence.blocks(16);
    KeyIndex index = index_of(blocks, 4);
    EXPECT_FALSE(KeyIndex::make({blocks.shape, 3, 0}));
    EXPECT_FALSE(index.add_tokens(14, blocks.bytes.data(), 0, 1)) << "13 comes next";
    EXPECT_FALSE(index.add_tokens(13, blocks.bytes.data(), 3, 1)) << "without what is before";
    EXPECT_FALSE(index.add_tokens(13, blocks.bytes.data(), 0, 17)) << "more than a block has";
    EXPECT_FALSE(index.add_tokens(2, blocks.bytes.data(), 3, 1)) << "again";
    EXPECT_FALSE(index.add_sketch(13, blocks.bytes.data()));
    EXPECT_EQ(index.blocks(), 13u);
    index.truncate(5);
    EXPECT_EQ(index.blocks(), 5u);
    for (uint32_t b = 5; b < 13; ++b)
        must(index.add_tokens(b, blocks.bytes.data() + blocks.list[b].at.offset, 0, blocks.list[b].at.tokens));
    const KeyIndex fresh = index_of(blocks, 4);
    const auto query = random_query(sequence.shape, 1, random);
    std::vector<float> a(16), b(16), mean(16);
    const float rounding = 0;
    index.score(0, query.data(), 1, &rounding, a.data(), mean.data(), 16);
    fresh.score(0, query.data(), 1, &rounding, b.data(), mean.data(), 16);
    EXPECT_EQ(std::vector(a.begin(), a.begin() + 13), std::vector(b.begin(), b.begin() + 13));
    EXPECT_GT(index.bytes(), 0u);
}

} // namespace
} // namespace hbf::kv
