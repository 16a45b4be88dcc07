// SPDX-License-Identifier: Apache-2.0
#include <random>

#include <gtest/gtest.h>

#include "core/engine/placement/heat.hpp"

namespace hbf::kv::placement {
namespace {

TEST(Heat, IsTheDecayedSumOfUses) {
    // Against the sum itself, in double precision, with a half-life of 50 requests.
    std::mt19937 random(1);
    const Key pace = pace_of(50);
    for (int round = 0; round < 20; ++round) {
        Key key = never, now = 0;
        double heat = 0;
        for (int request = 0; request < 2000; ++request) {
            now += pace;
            heat *= std::exp2(-octaves(pace));
            if (random() % 10 > static_cast<unsigned>(round) % 10) continue;
            key = add_use(key, now);
            heat += 1;
        }
        if (key == never) continue;
        EXPECT_NEAR(octaves(key - now), std::log2(heat), 0.02) << round;
    }
}

TEST(Heat, NeverTurnsAnOrderRound) {
    std::mt19937 random(2);
    for (int i = 0; i < 300'000; ++i) {
        const Key now = random() % (40 * octave), cold = random() % (40 * octave);
        const Key hot = cold + static_cast<Key>(random() % (i % 2 == 0 ? 3 : 5000));
        ASSERT_LE(add_use(cold, now), add_use(hot, now)) << cold << " " << hot << " at " << now;
        ASSERT_GE(add_use(cold, now), std::max(cold, now));
        ASSERT_LE(add_use(cold, now), add_use(cold, now + 1));
    }
}

TEST(Heat, OneUseIsNow) {
    EXPECT_EQ(add_use(never, 0), 0);
    EXPECT_EQ(add_use(never, 123'456'789), 123'456'789);
    EXPECT_EQ(add_use(5 * octave, 5 * octave), 6 * octave); // two uses at the same time
}

TEST(Heat, PaceAndHalfLife) {
    EXPECT_EQ(pace_of(1), octave);
    EXPECT_EQ(pace_of(16), octave / 16);
    EXPECT_EQ(pace_of(1e9), 1); // time never stands still
    EXPECT_NEAR(half_life_of(0.999), 692.8, 0.1);
    EXPECT_NEAR(half_life_of(0.5), 1, 1e-9);
}

} // namespace
} // namespace hbf::kv::placement
