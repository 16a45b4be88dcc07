// SPDX-License-Identifier: Apache-2.0
// Where threads meet; under the thread sanitizer too.
#include <random>
#include <thread>

#include "core/engine/blocks/cache_fixture.hpp"

namespace hbf::kv {
namespace {

TEST_F(CacheTest, AHundredSequencesForkDropAndMoveAtOnce) {
    auto options = small(320, 3000);
    options.background = true;
    KvCache cache = must(KvCache::open(options));
    const auto work = [&](uint32_t seed) {
        std::mt19937 random(seed);
        std::vector<std::pair<Sequence, std::vector<uint32_t>>> mine;
        for (int i = 0; i < 120; ++i) {
            const uint32_t what = random() % 10;
            if (mine.size() < 3 || (what < 3 && mine.size() < 25)) {
                auto prompt = tokens(random() % 4 * 1000, 17 + random() % 60); // four that all threads share
                Sequence sequence = must(cache.sequence(prompt));
                prompt.resize(std::max<size_t>(sequence.reused(), 1));
                if (sequence.reused() == 0) must(write(sequence, prompt));
                mine.emplace_back(std::move(sequence), std::move(prompt));
                continue;
            }
            auto &[sequence, all] = mine[random() % mine.size()];
            if (what < 5) {
                const auto more = tokens(static_cast<uint32_t>(random() % 100000), 1 + random() % 20);
                if (write(sequence, more)) all.insert(all.end(), more.begin(), more.end());
            } else if (what < 6) {
                mine.emplace_back(must(sequence.fork()), all);
            } else if (what < 7) {
                all.resize(random() % (all.size() + 1));
                must(sequence.truncate(all.size()));
            } else if (what < 8) {
                (void)sequence.move_to(random() % 2 == 0 ? Tier::hbf : Tier::hbm);
            } else if (what < 9) {
                ASSERT_EQ(check(sequence, all), "") << "seed " << seed << ", step " << i;
            } else {
                std::swap(mine[random() % mine.size()], mine.back());
                mine.pop_back();
            }
        }
        for (auto &[sequence, all] : mine) ASSERT_EQ(check(sequence, all), "") << "seed " << seed;
    };
    std::vector<std::thread> threads;
    for (uint32_t seed = 0; seed < 4; ++seed) threads.emplace_back(work, seed);
    for (std::thread &thread : threads) thread.join();
    const auto stats = cache.stats();
    EXPECT_EQ(stats.sequences, 0u);
    EXPECT_EQ(stats.damaged, 0u);
    EXPECT_LE(stats.tiers[0].used, stats.tiers[0].budget);
}

// Nobody can find the block and nobody holds it any more, but it is on its way.
TEST_F(CacheTest, ABlockThatIsDroppedWhileItMovesIsFreedOnce) {
    KvCache cache = must(KvCache::open(small()));
    Sequence first = must(cache.sequence());
    const auto all = tokens(1, 16);
    must(write(first, all));
    std::optional<Sequence> odd = must(cache.sequence());
    must(odd->append(all)); // the same tokens computed otherwise: kept, but not to be found
    for (uint32_t layer = 0; layer < 2; ++layer) {
        const auto keys = rows(all, 1, layer, true), values = rows(all, 1, layer, false);
        must(odd->put(layer, std::as_bytes(std::span(keys)), std::as_bytes(std::span(values))));
    }
    const BlockId block = odd->blocks(0)[0];
    script.manual = true;
    std::thread mover([&] { must(cache.migrate(block, Tier::hbf)); });
    while (!must(cache.explain(block)).moving) std::this_thread::yield();
    odd.reset();
    EXPECT_EQ(cache.stats().blocks, 3u) << "the block itself is still needed";
    script.manual = false;
    std::atomic<bool> done{false};
    std::thread runner([&] {
        while (!done) script.run();
    });
    mover.join();
    done = true;
    runner.join();
    const auto stats = cache.stats();
    EXPECT_EQ(stats.blocks, 2u);
    EXPECT_EQ(stats.tiers[0].used, 2 * granule_size);
    EXPECT_EQ(stats.tiers[1].used, 0u);
    EXPECT_EQ(check(first, all), "");
}

// One reads a sequence over and over, others move its blocks to and fro and let others take their places.
TEST_F(CacheTest, ReadersNeverSeeABlockThatMoved) {
    auto options = small(24, 512);
    options.hbf = Place{device, soft, 512 * granule_size}; // read in place there too
    KvCache cache = must(KvCache::open(options));
    Sequence read = must(cache.sequence());
    const auto all = tokens(1, 64);
    must(write(read, all));
    const auto blocks = read.blocks(0);
    std::atomic<bool> done{false};
    std::thread mover([&] {
        std::mt19937 random(1);
        for (int i = 0; i < 400; ++i)
            (void)cache.migrate(blocks[random() % blocks.size()], random() % 2 == 0 ? Tier::hbm : Tier::hbf);
        done = true;
    });
    std::thread writer([&] {
        for (uint32_t i = 1; !done; ++i) {
            Sequence other = must(cache.sequence());
            (void)write(other, tokens(i * 1000, 48));
        }
    });
    uint64_t rounds = 0;
    while (!done || rounds < 3) {
        ASSERT_EQ(check(read, all), "");
        ++rounds;
    }
    mover.join();
    writer.join();
    EXPECT_EQ(cache.stats().damaged, 0u);
}

} // namespace
} // namespace hbf::kv
