// SPDX-License-Identifier: Apache-2.0
// Small traces whose outcome can be told by hand.
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/engine/placement/lru.hpp"
#include "tools/replay/report.hpp"

namespace hbf::replay {
namespace {

using kv::placement::Lru;
using testing::HasSubstr;

Trace trace_of(const std::vector<std::vector<BlockId>> &requests) {
    Trace trace;
    trace.name = "small";
    for (const auto &request : requests) {
        trace.starts.push_back(trace.accesses.size());
        for (const BlockId id : request) {
            trace.accesses.push_back({id, 10});
            trace.blocks = std::max<size_t>(trace.blocks, id + 1);
        }
    }
    trace.starts.push_back(trace.accesses.size());
    return trace;
}

TEST(Replay, OnlyAnUnbrokenRunIsUsable) {
    // 0 1 2 3 fill it; 4 makes 3 go, the deepest. Then 0 1 2 are usable, and 3 is missing.
    const auto trace = trace_of({{0, 1, 2, 3}, {4}, {0, 1, 2, 3}});
    Lru lru(4, trace.blocks);
    const auto tally = replay(trace, lru);
    EXPECT_EQ(tally.tokens, 90u);
    EXPECT_EQ(tally.usable, 30u);
    EXPECT_EQ(tally.hits, 3u);
    EXPECT_EQ(tally.admitted_tokens, 60u);
}

TEST(Replay, BlocksBehindAHoleAreHitsOfNoUse) {
    const auto trace = trace_of({{1, 2}, {0, 1, 2}}); // the head is missing
    Lru lru(4, trace.blocks), upper(4, trace.blocks), lower(4, trace.blocks);
    for (const auto &tally : {replay(trace, lru), replay(trace, upper, lower)}) {
        EXPECT_EQ(tally.usable, 0u);
        EXPECT_EQ(tally.hits, 2u);
    }
}

TEST(Replay, APathLongerThanTheCacheKeepsItsHead) {
    const auto trace = trace_of({{0, 1, 2, 3}, {0, 1, 2, 3}});
    Lru lru(2, trace.blocks);
    EXPECT_EQ(replay(trace, lru).usable, 20u);
}

TEST(Replay, TwoLevelsMoveAndCount) {
    // Upper 1, lower 3. 0 comes; 1 comes, 0 is written down; 0 comes up, 1 is written down; 1 comes up, 0 has a copy.
    const auto trace = trace_of({{0}, {1}, {0}, {1}});
    Lru upper(1, trace.blocks), lower(3, trace.blocks);
    const auto tally = replay(trace, upper, lower);
    EXPECT_EQ(tally.usable, 20u);
    EXPECT_EQ(tally.fast, 0u);
    EXPECT_EQ(tally.up_blocks, 2u);
    EXPECT_EQ(tally.down_blocks, 2u) << "the third has its copy there";
    EXPECT_EQ(tally.down_tokens, 20u);
}

TEST(Replay, BeladyKnowsTheFuture) {
    const auto trace = trace_of({{0}, {1}, {2}, {0}, {1}, {0}, {2}});
    EXPECT_EQ(replay_best(trace, 3).usable, 40u);
    EXPECT_EQ(replay_best(trace, 2).usable, 30u);
    EXPECT_EQ(replay_best(trace, 1).usable, 20u); // 0 stays all along
}

// No policy serves more than Belady, and with room for all everyone serves the same.
TEST(Replay, NobodyBeatsBelady) {
    std::mt19937 random(11);
    std::vector<std::vector<BlockId>> requests;
    for (int i = 0; i < 3000; ++i) {
        std::vector<BlockId> path;
        const BlockId session = random() % 60 * 10;
        for (BlockId j = 0; j < 1 + random() % 10; ++j) path.push_back(session + j);
        requests.push_back(std::move(path));
    }
    const auto trace = trace_of(requests);
    for (const size_t capacity : {1u, 20u, 150u, 600u}) {
        const auto best = replay_best(trace, capacity);
        for (const auto &name : kv::placement::policy_names()) {
            const auto policy = kv::placement::make_policy(name, capacity, trace.blocks);
            const auto tally = replay(trace, **policy);
            EXPECT_LE(tally.usable, best.usable) << name << " of " << capacity;
            EXPECT_TRUE(capacity != 600 || tally.usable == best.usable) << name;
        }
    }
}

TEST(Replay, ReportsAsTextAndJson) {
    TraceResults results{trace_of({{0, 1}, {0, 1}}), 40, {}, {}, {}};
    const Capacity capacity{"5%", 2};
    Tally tally;
    tally.tokens = 40, tally.usable = 10, tally.hits = 1, tally.accesses = 4, tally.admitted_tokens = 30;
    Tally best = tally;
    best.usable = 20;
    results.best.emplace_back(capacity, best);
    results.results.push_back({capacity, "lru", tally, 0});
    Options options;
    options.plot = true;
    const auto text = report_text({results}, options);
    EXPECT_THAT(text, HasSubstr("small: 2 requests, 2 blocks, 40 tokens"));
    EXPECT_THAT(text, HasSubstr("25.00"));
    EXPECT_THAT(text, HasSubstr("3.750 MiB"));
    EXPECT_THAT(text, HasSubstr("lru ###"));
    const auto json = report_json({results}, options);
    EXPECT_THAT(json, HasSubstr("\"usable_share\": 0.25"));
    EXPECT_THAT(json, HasSubstr("\"regret_share\": 0.25"));
}

} // namespace
} // namespace hbf::replay
