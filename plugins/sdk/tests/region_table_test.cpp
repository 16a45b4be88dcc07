// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "hbf/sdk/region_table.hpp"

namespace hbf::sdk {
namespace {

template <class F>
hbf_status status_of(F &&call) {
    try {
        call();
        return HBF_OK;
    } catch (const Failure &failure) {
        return failure.status;
    }
}

TEST(RegionTable, FindsWhatWasInserted) {
    RegionTable<std::string> table;
    const hbf_region a = table.insert("a"), b = table.insert("b");
    EXPECT_NE(a, b);
    ASSERT_NE(table.find(a), nullptr);
    EXPECT_EQ(*table.find(a), "a");
    EXPECT_EQ(table.take(a), "a");
    EXPECT_EQ(table.find(a), nullptr);
    EXPECT_EQ(*table.find(b), "b");
}

TEST(RegionTable, StaleAndForeignHandlesAreRefused) {
    RegionTable<int> table;
    const hbf_region region = table.insert(1);
    table.take(region);
    for (const hbf_region bad : {region, hbf_region{0}, hbf_region{1}, hbf_region{UINT64_MAX}, region + 1,
                                 region ^ (hbf_region{1} << 63), hbf_region{UINT32_MAX}, hbf_region{1} << 32,
                                 (hbf_region{1} << 32) | (1u << 20), (hbf_region{1} << 32) | ((1u << 20) + 1)}) {
        EXPECT_EQ(table.find(bad), nullptr) << bad;
        EXPECT_EQ(table.pin(bad), nullptr) << bad;
        table.unpin(bad);
        EXPECT_EQ(status_of([&] { table.take(bad); }), HBF_INVALID) << bad;
    }
}

TEST(RegionTable, StaleHandleStaysStaleWhenTheSlotIsUsedAgain) {
    RegionTable<int> table;
    const hbf_region first = table.insert(0);
    table.take(first);
    bool slot_used_again = false;
    for (int i = 1; i < 3000; ++i) {
        const hbf_region next = table.insert(i);
        slot_used_again = slot_used_again || static_cast<uint32_t>(next) == static_cast<uint32_t>(first);
        ASSERT_EQ(table.find(first), nullptr);
        ASSERT_EQ(table.take(next), i);
    }
    EXPECT_TRUE(slot_used_again);
}

TEST(RegionTable, GenerationWrapsPastZero) {
    RegionTable<int> table(UINT32_MAX);
    const hbf_region last = table.insert(1);
    EXPECT_EQ(last >> 32, UINT32_MAX);
    table.take(last);
    const hbf_region wrapped = table.insert(2);
    EXPECT_EQ(static_cast<uint32_t>(wrapped), static_cast<uint32_t>(last)) << "the same slot";
    EXPECT_EQ(wrapped >> 32, 1u);
    EXPECT_EQ(table.find(last), nullptr);
    EXPECT_NE(table.find(wrapped), nullptr);
}

TEST(RegionTable, PinnedIsBusyUntilTheLastUnpin) {
    RegionTable<int> table;
    const hbf_region region = table.insert(7);
    ASSERT_NE(table.pin(region), nullptr);
    ASSERT_NE(table.pin(region), nullptr);
    EXPECT_EQ(status_of([&] { table.take(region); }), HBF_BUSY);
    table.unpin(region);
    EXPECT_EQ(status_of([&] { table.take(region); }), HBF_BUSY);
    EXPECT_EQ(*table.find(region), 7) << "a refused take changes nothing";
    table.unpin(region);
    table.unpin(region); // one too many: ignored
    EXPECT_EQ(table.take(region), 7);
}

TEST(RegionTable, AFreeThatFailsLeavesTheRegion) {
    RegionTable<int> table;
    const hbf_region region = table.insert(7);
    EXPECT_THROW(table.take(region,
                            [&](int &value) {
                                EXPECT_EQ(value, 7);
                                EXPECT_EQ(table.pin(region), nullptr) << "nobody else reaches it meanwhile";
                                fail(HBF_DEVICE_LOST, "not now");
                            }),
                 Failure);
    ASSERT_NE(table.pin(region), nullptr);
    table.unpin(region);
    EXPECT_EQ(table.take(region, [](int &) {}), 7);
    EXPECT_EQ(table.find(region), nullptr);
}

TEST(RegionTable, FailuresNameTheRegion) {
    RegionTable<int> table;
    const hbf_region region = table.insert(1);
    table.pin(region);
    try {
        table.take(region);
        FAIL();
    } catch (const Failure &failure) {
        EXPECT_EQ(failure.region, region);
    }
}

TEST(RegionTable, HoldsTwoToTheTwenty) {
    RegionTable<uint32_t> table;
    std::vector<hbf_region> regions;
    for (uint32_t i = 0; i < RegionTable<uint32_t>::capacity; ++i) regions.push_back(table.insert(i));
    EXPECT_EQ(status_of([&] { table.insert(0); }), HBF_EXHAUSTED);
    for (const uint32_t i : {0u, 1023u, 1024u, (1u << 20) - 1}) EXPECT_EQ(*table.find(regions[i]), i);
    EXPECT_EQ(table.take(regions[1024]), 1024u);
    EXPECT_NE(table.insert(5), 0u) << "freeing one helps";
    EXPECT_EQ(status_of([&] { table.insert(0); }), HBF_EXHAUSTED);
}

TEST(RegionTable, DrainHandsOverEachLiveEntryOnce) {
    RegionTable<std::shared_ptr<int>> table;
    const auto count = std::make_shared<int>(0);
    std::vector<hbf_region> regions;
    for (int i = 0; i < 2000; ++i) regions.push_back(table.insert(count));
    table.take(regions[5]);
    table.pin(regions[6]);
    int seen = 0;
    table.drain([&](std::shared_ptr<int> &) { ++seen; });
    EXPECT_EQ(seen, 1999);
    EXPECT_EQ(count.use_count(), 1) << "the table keeps nothing";
    EXPECT_EQ(table.find(regions[6]), nullptr);
    EXPECT_NE(table.find(table.insert(count)), nullptr) << "usable again";
    seen = 0;
    table.drain([&](std::shared_ptr<int> &) { ++seen; });
    EXPECT_EQ(seen, 1);
}

TEST(RegionTable, DrainGoesOnAfterAThrow) {
    RegionTable<int> table;
    for (int i = 0; i < 3; ++i) table.insert(i);
    EXPECT_THROW(table.drain([](int &value) {
        if (value == 1) throw 1;
    }),
                 int);
    std::vector<int> rest;
    table.drain([&](int &value) { rest.push_back(value); });
    EXPECT_EQ(rest, std::vector<int>{2});
}

TEST(RegionTable, DestructorEndsWhatIsLeft) {
    const auto counted = std::make_shared<int>(0);
    {
        RegionTable<std::shared_ptr<int>> table;
        for (int i = 0; i < 10; ++i) table.insert(counted);
    }
    EXPECT_EQ(counted.use_count(), 1);
}

// Readers pin, look and unpin while a writer takes and inserts. `alive` is plain memory: a pin that outlived a take would
// be a data race for the thread sanitizer and a 0 for the eye.
struct Guarded {
    std::unique_ptr<int> alive = std::make_unique<int>(1);
    Guarded() = default;
    Guarded(Guarded &&) noexcept = default;
    ~Guarded() {
        if (alive) *alive = 0;
    }
};

#if defined(__SANITIZE_ADDRESS__)
#define HBF_SLOW_THROWS 1 // every refused take is an exception, which costs twenty times as much there
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HBF_SLOW_THROWS 1
#endif
#endif

TEST(RegionTableRace, TakeAndPinNeverBothSucceed) {
#ifdef HBF_SLOW_THROWS
    constexpr int rounds = 20000;
#else
    constexpr int rounds = 200000;
#endif
    RegionTable<Guarded> table;
    std::atomic<hbf_region> current{table.insert(Guarded{})};
    std::atomic<bool> stop{false};
    std::atomic<uint64_t> pinned{0}, stale{0};
    std::vector<std::thread> readers;
    for (int i = 0; i < 2; ++i)
        readers.emplace_back([&] {
            while (!stop.load(std::memory_order_relaxed)) {
                const hbf_region region = current.load(std::memory_order_acquire);
                if (Guarded *entry = table.pin(region)) {
                    EXPECT_EQ(entry->alive ? *entry->alive : 0, 1);
                    table.unpin(region);
                    ++pinned;
                } else {
                    ++stale;
                }
            }
        });
    uint64_t busy = 0;
    for (int taken = 0; taken < rounds;) {
        const hbf_region region = current.load();
        try {
            Guarded mine = table.take(region);
            EXPECT_EQ(table.pin(region), nullptr) << "a pin after take succeeded";
            *mine.alive = 2; // ours alone: a reader still in there would see it
            ++taken;
            current.store(table.insert(Guarded{}), std::memory_order_release);
        } catch (const Failure &failure) {
            ASSERT_EQ(failure.status, HBF_BUSY);
            ++busy;
        }
    }
    while (pinned == 0) std::this_thread::yield(); // on a busy machine the readers may not have run yet
    stop = true;
    for (std::thread &reader : readers) reader.join();
    RecordProperty("pinned", std::to_string(pinned));
    RecordProperty("busy", std::to_string(busy));
    RecordProperty("stale", std::to_string(stale));
}

TEST(RegionTableRace, OneTakerWins) {
    RegionTable<int> table;
    for (int round = 0; round < 3000; ++round) {
        const hbf_region region = table.insert(round);
        std::atomic<int> winners{0}, ready{0};
        const auto take = [&] {
            ++ready;
            while (ready < 2) std::this_thread::yield();
            if (status_of([&] { table.take(region); }) == HBF_OK) ++winners;
        };
        std::thread other(take);
        take();
        other.join();
        ASSERT_EQ(winners, 1);
    }
}

TEST(RegionTableRace, InsertsFromManyThreadsDoNotCollide) {
    RegionTable<int> table;
    std::vector<std::vector<hbf_region>> regions(4);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 3000; ++i) {
                regions[t].push_back(table.insert(t));
                if (i % 3 == 0) {
                    EXPECT_EQ(table.take(regions[t].back()), t);
                    regions[t].pop_back();
                }
            }
        });
    for (std::thread &thread : threads) thread.join();
    size_t live = 0;
    for (int t = 0; t < 4; ++t)
        for (const hbf_region region : regions[t]) {
            ASSERT_NE(table.find(region), nullptr);
            ASSERT_EQ(*table.find(region), t);
            ++live;
        }
    EXPECT_EQ(live, 8000u);
}

} // namespace
} // namespace hbf::sdk
