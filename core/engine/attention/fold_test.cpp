// SPDX-License-Identifier: Apache-2.0
// The tree of merges: what it means, that only the number of blocks shapes it, and that a million of them lose no digits.
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "core/engine/attention/fold.hpp"

namespace hbf::kv {
namespace {

constexpr uint32_t dim = 16;

struct Partial {
    std::vector<float> state, output;
};

Partial random_partial(std::mt19937 &random, uint32_t rows) {
    std::uniform_real_distribution<float> score(-6, 6), sum(1, 20), number(-1, 1);
    Partial made;
    for (uint32_t row = 0; row < rows; ++row) {
        made.state.push_back(score(random)), made.state.push_back(sum(random));
        for (uint32_t i = 0; i < dim; ++i) made.output.push_back(number(random) * made.state.back());
    }
    return made;
}

void put(Fold &fold, const Partial &partial) {
    std::copy(partial.state.begin(), partial.state.end(), fold.state());
    std::copy(partial.output.begin(), partial.output.end(), fold.output());
    fold.add(1);
}

Partial finished(Fold &fold, uint32_t rows) {
    Partial out{std::vector<float>(size_t{rows} * 2), std::vector<float>(size_t{rows} * dim)};
    fold.finish(out.state.data(), out.output.data());
    return out;
}

TEST(FoldTest, IsTheSumOfAllBlocks) {
    std::mt19937 random(1);
    Fold fold;
    for (const uint32_t blocks : {1u, 2u, 15u, 16u, 17u, 31u, 256u, 257u, 4113u}) {
        fold.begin(2, dim, blocks);
        double sum[2] = {}, outputs[2][dim] = {};
        for (uint32_t b = 0; b < blocks; ++b) {
            const Partial partial = random_partial(random, 2);
            for (uint32_t row = 0; row < 2; ++row) {
                const double weight = std::exp(static_cast<double>(partial.state[2 * row]));
                sum[row] += weight * static_cast<double>(partial.state[2 * row + 1]);
                for (uint32_t i = 0; i < dim; ++i)
                    outputs[row][i] += weight * static_cast<double>(partial.output[row * dim + i]);
            }
            put(fold, partial);
        }
        const Partial merged = finished(fold, 2);
        for (uint32_t row = 0; row < 2; ++row) {
            const double scale = std::exp(static_cast<double>(merged.state[2 * row]));
            EXPECT_NEAR(scale * static_cast<double>(merged.state[2 * row + 1]) / sum[row], 1, 2e-6) << blocks;
            for (uint32_t i = 0; i < dim; ++i)
                EXPECT_NEAR(scale * static_cast<double>(merged.output[row * dim + i]) / sum[row], outputs[row][i] / sum[row],
                            2e-6)
                    << blocks;
        }
    }
}

// So a chunk of prefill, whose first tokens do not see its last blocks, has the bits of decoding.
TEST(FoldTest, BlocksWithoutTokensAtTheEndChangeNoBit) {
    for (const uint32_t blocks : {1u, 16u, 20u, 256u, 300u})
        for (const uint32_t more : {1u, 16u, 240u}) {
            Fold with, without;
            std::mt19937 random(blocks);
            with.begin(1, dim, blocks + more), without.begin(1, dim, blocks);
            for (uint32_t b = 0; b < blocks; ++b) {
                const Partial partial = random_partial(random, 1);
                put(with, partial), put(without, partial);
            }
            for (uint32_t b = 0; b < more; ++b)
                put(with, {{-std::numeric_limits<float>::infinity(), 0}, std::vector<float>(dim, 0.0f)});
            const Partial a = finished(with, 1), b = finished(without, 1);
            EXPECT_EQ(a.state, b.state) << blocks << " and " << more;
            EXPECT_EQ(a.output, b.output) << blocks << " and " << more;
        }
}

TEST(FoldTest, NothingIsNothing) {
    Fold fold;
    fold.begin(1, dim, 0);
    const Partial merged = finished(fold, 1);
    EXPECT_EQ(merged.state, (std::vector<float>{-std::numeric_limits<float>::infinity(), 0}));
    EXPECT_EQ(merged.output, std::vector<float>(dim, 0.0f));
}

// 65,536 equal blocks, as a million tokens in blocks of 16 are: one long sum would be wrong in the fourth digit.
TEST(FoldTest, AMillionTokensLoseNoDigits) {
    constexpr uint32_t blocks = 65536;
    Fold fold;
    fold.begin(1, dim, blocks);
    const Partial partial{{0.5f, 16.1f}, std::vector<float>(dim, 1.7f)};
    for (uint32_t b = 0; b < blocks; ++b) put(fold, partial);
    const Partial merged = finished(fold, 1);
    EXPECT_EQ(merged.state[0], 0.5f);
    EXPECT_NEAR(static_cast<double>(merged.state[1]) / blocks, static_cast<double>(16.1f), 1e-5);
    EXPECT_NEAR(static_cast<double>(merged.output[3]) / blocks, static_cast<double>(1.7f), 1e-6);
}

} // namespace
} // namespace hbf::kv
