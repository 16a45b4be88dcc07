// SPDX-License-Identifier: Apache-2.0
#include <random>

#include <gtest/gtest.h>

#include "core/engine/placement/tuner.hpp"

namespace hbf::kv::placement {
namespace {

std::vector<Candidate> short_and_long() {
    return {{8}, {128}, {2048}};
}

// A few hundred blocks that always come back, between many that never do.
void run_frequent(Tuner &tuner, size_t requests, size_t width) {
    for (size_t i = 0; i < requests; ++i) {
        std::vector<PathBlock> path;
        for (size_t j = 0; j < width; ++j) {
            path.push_back({static_cast<BlockId>(i * 7 % 300 * width + j), 16});
            path.push_back({static_cast<BlockId>(1'000'000 + i * width + j), 16});
        }
        tuner.request(path);
    }
}

TEST(Tuner, FindsALongHalfLifeForWhatComesBack) {
    Tuner tuner(short_and_long(), 0, 1500, 30'000);
    run_frequent(tuner, 4000, 4);
    EXPECT_EQ(tuner.best().half_life, 2048);
}

TEST(Tuner, FindsItInASampleToo) {
    Tuner tuner(short_and_long(), 0, 100'000, 2'000'000);
    EXPECT_EQ(tuner.sample_rate(), 32u);
    run_frequent(tuner, 4000, 256);
    EXPECT_EQ(tuner.best().half_life, 2048);
}

// First the one kind of traffic, then the other: what held before must not hold on.
TEST(Tuner, FollowsAChange) {
    Tuner tuner(short_and_long(), 0, 1500, 30'000);
    run_frequent(tuner, 4000, 4);
    ASSERT_EQ(tuner.best().half_life, 2048);
    // Each block is used in many requests of one session, then never: long memory keeps the dead.
    std::mt19937 random(9);
    for (size_t i = 0; i < 20'000; ++i) {
        std::vector<PathBlock> path;
        const size_t session = i / 200 * 4 + random() % 4;
        for (size_t j = 0; j < 300; ++j) path.push_back({static_cast<BlockId>(10'000'000 + session * 300 + j), 16});
        tuner.request(path);
    }
    EXPECT_LT(tuner.best().half_life, 2048);
}

TEST(Tuner, ForgetsAndGoesOn) {
    Tuner tuner(short_and_long(), 1, 10, 40);
    for (BlockId id = 0; id < 5000; ++id) {
        const std::vector<PathBlock> path = {{id, 16}};
        tuner.request(path);
        if (id >= 20) tuner.forget(id - 20);
    }
    EXPECT_EQ(tuner.standings().size(), 3u);
    for (const auto &standing : tuner.standings()) EXPECT_EQ(standing.served, 0);
    EXPECT_EQ(tuner.best().half_life, 128) << "nothing to choose by";
}

TEST(Tuner, ASecondUseIsWaitedForWhereItSavesWrites) {
    Tuner tuner({{512, false}, {512, true}}, 0, 1500, 60'000);
    run_frequent(tuner, 4000, 4);
    EXPECT_TRUE(tuner.best().second_use);
}

} // namespace
} // namespace hbf::kv::placement
