// SPDX-License-Identifier: Apache-2.0
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "core/engine/placement/heat_queue.hpp"

namespace hbf::kv::placement {
namespace {

struct Fixture {
    struct Of {
        std::vector<Link> *links;
        Link &operator()(BlockId id) const { return (*links)[id]; }
    };
    struct KeyOf {
        std::vector<Key> *keys;
        Key operator()(BlockId id) const { return (*keys)[id]; }
    };
    explicit Fixture(size_t blocks) : links(blocks), keys(blocks, never) {}
    std::vector<Link> links;
    std::vector<Key> keys;
    HeatQueue<Of, KeyOf> queue{{&links}, {&keys}};
};

constexpr Key width = octave / 16;

TEST(HeatQueue, EmptyHasNone) {
    Fixture f(1);
    EXPECT_EQ(f.queue.coldest(), no_block);
    f.queue.put(0);
    EXPECT_EQ(f.queue.coldest(), 0u);
    f.queue.remove(0);
    EXPECT_EQ(f.queue.coldest(), no_block);
    EXPECT_EQ(f.queue.size(), 0u);
}

TEST(HeatQueue, AmongEqualsTheFirstIn) {
    Fixture f(3);
    for (const BlockId id : {2u, 0u, 1u}) {
        f.keys[id] = 7 * octave + id;
        f.queue.put(id);
    }
    for (const BlockId id : {2u, 0u, 1u}) {
        ASSERT_EQ(f.queue.coldest(), id);
        f.queue.remove(id);
    }
}

// Uses, removals and the passing of time at random: the coldest is the least of all, up to the width of a bucket, as long as
// it is not behind the ring.
TEST(HeatQueue, ColdestIsTheLeastThereIs) {
    for (const double half_life : {0.3, 8.0, 200.0, 5000.0}) {
        std::mt19937 random(3);
        constexpr size_t blocks = 300;
        Fixture f(blocks);
        std::vector<bool> in(blocks);
        const Key pace = pace_of(half_life);
        Key now = 0;
        for (int step = 0; step < 30'000; ++step) {
            now += pace;
            f.queue.advance(now);
            const BlockId id = random() % blocks;
            f.keys[id] = add_use(f.keys[id], now);
            if (!in[id]) f.queue.put(id), in[id] = true;
            if (random() % 3 != 0) continue;
            const BlockId out = f.queue.coldest();
            ASSERT_NE(out, no_block);
            ASSERT_TRUE(in[out]);
            Key least = f.keys[out];
            for (BlockId other = 0; other < blocks; ++other) {
                if (in[other]) least = std::min(least, f.keys[other]);
            }
            const Key behind = now - 223 * octave; // there all count alike
            ASSERT_LE(std::max(f.keys[out], behind), std::max(least, behind) + width) << "half-life " << half_life;
            if (random() % 2 == 0) f.queue.remove(out), in[out] = false;
        }
    }
}

TEST(HeatQueue, ALongSilenceKeepsTheOrder) {
    Fixture f(4);
    for (BlockId id = 0; id < 4; ++id) {
        f.keys[id] = (3 - id) * octave;
        f.queue.put(id);
    }
    f.queue.advance(1'000'000 * octave);
    f.keys[3] = 1'000'000 * octave; // used again
    for (const BlockId id : {2u, 1u, 0u, 3u}) {
        ASSERT_EQ(f.queue.coldest(), id);
        f.queue.remove(id);
    }
}

TEST(HeatQueue, AKeyThatFellGoesWhenItsTurnComes) {
    Fixture f(2);
    f.keys = {20 * octave, 10 * octave};
    f.queue.put(0);
    f.queue.put(1);
    f.keys[0] = 0; // a boost that lapsed
    EXPECT_EQ(f.queue.coldest(), 1u);
    f.queue.remove(1);
    EXPECT_EQ(f.queue.coldest(), 0u);
}

} // namespace
} // namespace hbf::kv::placement
