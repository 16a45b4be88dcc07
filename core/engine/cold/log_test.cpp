// SPDX-License-Identifier: Apache-2.0
// What goes in comes out; what does not fit makes room.
#include <sys/stat.h>

#include "core/engine/cold/testing/cold.hpp"

namespace hbf::kv::cold {
namespace {

using namespace testing;

class ColdLog : public ::testing::TestWithParam<bool> {
protected:
    LogOptions options(uint64_t segments = 8) {
        LogOptions all = options_for(scratch, segments);
        all.uring = GetParam();
        return all;
    }
    Scratch scratch;
};

TEST_P(ColdLog, GivesBackWhatWasCommittedNowAndAfterReopening) {
    const size_t sizes[] = {1, 4095, 4096, 4097, 40000, granule_size};
    for (int opening = 0; opening < 2; ++opening) {
        auto log = must(Log::open(options()));
        if (opening == 0) {
            for (uint32_t i = 0; i < 6; ++i) append(*log, i, 100 + i, sizes[i]);
            EXPECT_FALSE(log->find(key(3))) << "before the commit";
            must(log->commit());
        }
        auto reader = must(log->make_reader());
        for (uint32_t i = 0; i < 6; ++i) {
            EXPECT_EQ(must(read_generation(*reader, i)), 100 + i);
            EXPECT_EQ(log->find(key(i))->length, sizes[i]);
        }
        EXPECT_EQ(read_generation(*reader, 6).error().code, Code::unavailable);
        EXPECT_EQ(log->stats().reads, 6u);
        EXPECT_EQ(log->stats().misses, 1u);
        EXPECT_EQ(log->stats().granules, 6u);
        must(log->close());
        EXPECT_EQ(log->append(key(1), 1, bytes_of(1, 1, 10)).error().code, Code::invalid) << "closed";
    }
}

TEST_P(ColdLog, NewerOnesTakeThePlaceOfOlderOnesAndRemovedOnesStayAway) {
    {
        auto log = must(Log::open(options()));
        for (uint64_t generation = 1; generation <= 5; ++generation)
            for (uint32_t i = 0; i < 4; ++i) append(*log, i, generation, 5000);
        must(log->remove(key(2)));
        must(log->remove(key(77))); // was never there
        must(log->commit());
        append(*log, 3, 9);
        must(log->remove(key(3))); // on its way
        must(log->commit());
    }
    auto log = must(Log::open(options()));
    auto reader = must(log->make_reader());
    EXPECT_EQ(must(read_generation(*reader, 0)), 5u);
    EXPECT_EQ(must(read_generation(*reader, 1)), 5u);
    EXPECT_FALSE(log->find(key(2)));
    EXPECT_FALSE(log->find(key(3)));
}

TEST_P(ColdLog, ManyReadsAtOnceEachWithItsOwnBytes) {
    auto log = must(Log::open(options(16)));
    constexpr uint32_t count = 120;
    for (uint32_t i = 0; i < count; ++i) append(*log, i, i + 1);
    must(log->commit());
    auto reader = must(log->make_reader(8));
    const Pages memory(8 * granule_size);
    std::vector<uint64_t> free{0, 1, 2, 3, 4, 5, 6, 7};
    uint32_t next = 0, right = 0;
    while (right < count) {
        for (; reader->has_room() && next < count && !free.empty(); ++next) {
            reader->begin({key(next), memory.data() + free.back() * granule_size, granule_size, next * 8 + free.back()});
            free.pop_back();
        }
        ReadDone done[3];
        const size_t got = reader->finish(done, true);
        ASSERT_GT(got, 0u);
        for (size_t i = 0; i < got; ++i) {
            const auto number = static_cast<uint32_t>(done[i].tag / 8);
            const uint64_t slot = done[i].tag % 8;
            ASSERT_EQ(must(done[i].result).generation, number + 1);
            const auto expected = bytes_of(number, number + 1, granule_size);
            ASSERT_TRUE(std::equal(expected.begin(), expected.end(), memory.data() + slot * granule_size));
            free.push_back(slot);
            ++right;
        }
    }
    EXPECT_EQ(reader->in_flight(), 0u);
}

TEST_P(ColdLog, NeverTakesMoreThanItsCapacityAndKeepsTheYoungest) {
    auto log = must(Log::open(options(4)));
    for (uint32_t i = 0; i < 200; ++i) append(*log, i, i + 1);
    must(log->commit());
    uint64_t bytes = 0;
    for (const auto &file : std::filesystem::directory_iterator(scratch.log())) {
        struct stat facts = {};
        ASSERT_EQ(::stat(file.path().c_str(), &facts), 0);
        EXPECT_EQ(facts.st_mode & 0777, 0600u) << file.path();
        if (file.path().filename() != "log") bytes += file.file_size();
    }
    EXPECT_LE(bytes, 4u << 20);
    EXPECT_GT(log->stats().evicted, 100u);
    auto reader = must(log->make_reader());
    for (uint32_t i = 180; i < 200; ++i) EXPECT_EQ(must(read_generation(*reader, i)), i + 1);
    EXPECT_FALSE(log->find(key(0)));
    EXPECT_LE(log->stats().live_bytes, log->stats().used_bytes);
}

TEST_P(ColdLog, WhatIsReadOftenStaysWhileOthersGo) {
    auto log = must(Log::open(options(5)));
    auto reader = must(log->make_reader());
    for (uint32_t i = 0; i < 4; ++i) append(*log, i, 1);
    must(log->commit());
    for (uint32_t i = 10; i < 300; ++i) {
        append(*log, i, 1);
        if (i % 10 != 0) continue;
        must(log->commit());
        for (uint32_t hot = 0; hot < 4; ++hot) ASSERT_TRUE(read_generation(*reader, hot)) << "after " << i;
    }
    EXPECT_GT(log->stats().moved, 4u);
    EXPECT_FALSE(log->find(key(10)));
}

TEST_P(ColdLog, AsksWhatToKeepWhereTheCallerKnows) {
    LogOptions all = options(4);
    all.wanted = [](const Key &which) { return which == key(7); };
    auto log = must(Log::open(all));
    for (uint32_t i = 0; i < 300; ++i) append(*log, i, 1);
    must(log->commit());
    EXPECT_TRUE(log->find(key(7)));
    EXPECT_FALSE(log->find(key(6)));
    EXPECT_FALSE(log->find(key(8)));
}

TEST_P(ColdLog, CompactsWhatIsMostlyGoneInsteadOfEvicting) {
    auto log = must(Log::open(options(6)));
    for (uint32_t i = 0; i < 60; ++i) append(*log, i, 1);
    for (uint32_t i = 0; i < 60; ++i)
        if (i % 4 != 0) must(log->remove(key(i)));
    for (uint32_t i = 100; i < 135; ++i) append(*log, i, 1);
    must(log->commit());
    EXPECT_EQ(log->stats().evicted, 0u);
    EXPECT_GT(log->stats().moved, 0u);
    for (int opening = 0; opening < 2; ++opening) {
        auto reader = must(log->make_reader());
        for (uint32_t i = 0; i < 60; ++i) EXPECT_EQ(log->find(key(i)).has_value(), i % 4 == 0) << i << ' ' << opening;
        for (uint32_t i = 0; i < 60; i += 4) EXPECT_TRUE(read_generation(*reader, i));
        for (uint32_t i = 100; i < 135; ++i) EXPECT_TRUE(read_generation(*reader, i));
        reader.reset();
        log.reset();
        log = must(Log::open(options(6)));
    }
}

TEST_P(ColdLog, ASmallerCapacityIsKeptFromTheNextOpeningOn) {
    {
        auto log = must(Log::open(options(8)));
        for (uint32_t i = 0; i < 100; ++i) append(*log, i, 1);
    }
    auto log = must(Log::open(options(3)));
    EXPECT_LE(log->stats().segments, 3u);
    auto reader = must(log->make_reader());
    EXPECT_TRUE(read_generation(*reader, 99));
    for (uint32_t i = 200; i < 240; ++i) append(*log, i, 1);
    must(log->commit());
    EXPECT_LE(log->stats().segments, 3u);
    EXPECT_TRUE(read_generation(*reader, 239));
}

INSTANTIATE_TEST_SUITE_P(Ways, ColdLog, ::testing::Bool(),
                         [](const auto &way) { return way.param ? "io_uring" : "one_by_one"; });

TEST(ColdIndex, FindsWhatAMapFinds) {
    std::mt19937 random(seed());
    Index index;
    std::map<Key, Place> map;
    for (int step = 0; step < 60000; ++step) {
        const Key which = key(random() % 700);
        if (random() % 3 != 0) {
            const Place place{0, static_cast<uint32_t>(step), 1, 2, 3};
            index.put(which, place);
            map[which] = place;
        } else {
            ASSERT_EQ(index.erase(which), map.erase(which) > 0);
        }
        const Key other = key(random() % 700);
        const auto found = map.find(other);
        ASSERT_EQ(index.find(other) != nullptr, found != map.end());
        if (found != map.end()) {
            ASSERT_EQ(index.find(other)->place, found->second);
        }
        ASSERT_EQ(index.size(), map.size());
    }
    const size_t erased = index.erase_if([](const Index::Record &record) { return record.place.page % 2 == 0; });
    EXPECT_EQ(erased, std::erase_if(map, [](const auto &item) { return item.second.page % 2 == 0; }));
    for (const auto &[which, place] : map) ASSERT_EQ(index.find(which)->place, place);
    EXPECT_EQ(index.size(), map.size());
}

} // namespace
} // namespace hbf::kv::cold
