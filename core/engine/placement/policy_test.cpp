// SPDX-License-Identifier: Apache-2.0
// What holds for every policy, and what each is for.
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "core/engine/placement/heat_cache.hpp"

namespace hbf::kv::placement {
namespace {

using Requests = std::vector<std::vector<PathBlock>>;

// Conversations over a tree: a path goes down it, each block's number standing for its whole prefix.
Requests conversations(unsigned seed, size_t requests, size_t blocks) {
    std::mt19937 random(seed);
    std::map<std::pair<BlockId, unsigned>, BlockId> tree;
    Requests all;
    BlockId next = 0;
    while (all.size() < requests) {
        std::vector<PathBlock> path;
        BlockId at = no_block;
        const size_t depth = 1 + random() % 12;
        while (path.size() < depth) {
            const unsigned branch = std::min<unsigned>(random() % 4, random() % 40);
            const auto [child, is_new] = tree.try_emplace({at, branch}, next);
            if (is_new && ++next > blocks) return all;
            at = child->second;
            path.push_back({at, 16});
        }
        all.push_back(std::move(path));
    }
    return all;
}

struct Watched { // replays, and looks at each step
    explicit Watched(Policy &watched, size_t blocks) : policy(watched), parent(blocks, no_block) {}
    Policy &policy;
    std::vector<BlockId> parent;
    std::set<BlockId> held;
    bool leaf_first = true;

    void serve(const std::vector<PathBlock> &path) {
        std::set<BlockId> in_path;
        for (const auto &block : path) in_path.insert(block.id);
        policy.begin(path);
        BlockId before = no_block;
        for (const auto &[id, tokens] : path) {
            ASSERT_EQ(policy.holds(id), held.contains(id)) << id;
            if (!policy.holds(id)) {
                if (policy.size() >= policy.capacity()) {
                    const BlockId out = policy.victim(id);
                    if (out == no_block) break;
                    ASSERT_TRUE(held.erase(out)) << out << " was not held";
                    ASSERT_FALSE(policy.holds(out));
                    ASSERT_FALSE(in_path.contains(out)) << out << " is in the request";
                    for (const BlockId other : held) leaf_first = leaf_first && parent[other] != out;
                }
                policy.admit(id, before);
                held.insert(id);
                parent[id] = before;
            }
            before = id;
        }
        policy.end(path);
        ASSERT_EQ(policy.size(), held.size());
        ASSERT_LE(policy.size(), policy.capacity());
    }
};

TEST(Policies, HoldWhatTheySayAndNoMoreThanTheyMay) {
    constexpr size_t blocks = 3000;
    for (const auto &name : policy_names()) {
        for (const size_t capacity : {1u, 5u, 60u, 2999u}) {
            auto policy = make_policy(name, capacity, blocks);
            ASSERT_TRUE(policy);
            EXPECT_EQ((*policy)->name(), name);
            Watched watched(**policy, blocks);
            for (const auto &path : conversations(5, 4000, blocks)) {
                watched.serve(path);
                if (testing::Test::HasFatalFailure()) FAIL() << name << " of " << capacity;
            }
            EXPECT_TRUE(watched.leaf_first || (name != "ahas" && name != "lru")) << name << " of " << capacity;
        }
    }
}

TEST(Policies, UnknownOnesAndNoRoomAreRefused) {
    const auto unknown = make_policy("mru", 1, 1);
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error(), "no policy is named 'mru': there are ahas, lru, s3fifo, arc");
    const auto empty = make_policy("lru", 0, 1);
    ASSERT_FALSE(empty);
    EXPECT_EQ(empty.error(), "policy 'lru': a cache of no block holds nothing");
}

// Paths that contradict each other - the same block after different ones, twice, after itself - end in no deadlock.
TEST(Policies, ContradictingPathsDoNoHarm) {
    constexpr size_t blocks = 40;
    for (const auto &name : policy_names()) {
        auto policy = make_policy(name, 7, blocks);
        Watched watched(**policy, blocks);
        std::mt19937 random(6);
        for (int i = 0; i < 5000; ++i) {
            std::vector<PathBlock> path;
            const size_t length = 1 + random() % 6;
            while (path.size() < length) path.push_back({static_cast<BlockId>(random() % blocks), 16});
            watched.serve(path);
            ASSERT_FALSE(testing::Test::HasFatalFailure()) << name;
            ASSERT_TRUE(length > 1 || (*policy)->holds(path.front().id)) << name << ": nothing may go in request " << i;
        }
    }
}

size_t served(Policy &policy, const Requests &requests) {
    size_t hits = 0;
    for (const auto &path : requests) {
        for (const auto &block : path) hits += policy.holds(block.id);
        policy.begin(path);
        for (const auto &block : path) {
            if (policy.holds(block.id)) continue;
            if (policy.size() >= policy.capacity() && policy.victim(block.id) == no_block) break;
            policy.admit(block.id, no_block);
        }
        policy.end(path);
    }
    return hits;
}

// A few blocks used now and then among many used once: recency forgets them, frequency does not.
TEST(Policies, FrequencyOutlivesAScan) {
    constexpr size_t blocks = 60'000;
    Requests requests;
    BlockId fresh = 100;
    for (int i = 0; i < 5000; ++i) {
        requests.push_back({{static_cast<BlockId>(i % 50), 16}});
        for (int j = 0; j < 10; ++j) requests.push_back({{fresh++, 16}});
    }
    const auto count = [&](std::string_view name) { return served(**make_policy(name, 200, blocks), requests); };
    EXPECT_EQ(count("lru"), 0u);
    EXPECT_GT(count("ahas"), 4000u);
}

// What was hot and no longer is must not stay for ever.
TEST(Policies, OldHeatCools) {
    constexpr size_t blocks = 2000;
    Requests requests;
    for (int i = 0; i < 4000; ++i) requests.push_back({{static_cast<BlockId>(i % 100), 16}});
    const size_t first = requests.size();
    for (int i = 0; i < 40'000; ++i) requests.push_back({{static_cast<BlockId>(1000 + i % 100), 16}});
    HeatCache cache(100, blocks);
    served(cache, {requests.begin(), requests.begin() + static_cast<long>(first)});
    const size_t hits = served(cache, {requests.begin() + static_cast<long>(first), requests.end()});
    EXPECT_GT(hits, 35'000u);
    for (BlockId id = 0; id < 100; ++id) EXPECT_FALSE(cache.holds(id)) << id;
}

TEST(HeatCache, GhostsAreBoundedAndKeepTheirHeat) {
    HeatOptions options;
    options.alpha = 0.999;
    options.ghosts = 2;
    HeatCache cache(10, 1000, options);
    Requests requests;
    for (int i = 0; i < 20; ++i) requests.push_back({{0, 16}});
    for (BlockId id = 1; id < 500; ++id) requests.push_back({{id, 16}});
    served(cache, requests);
    EXPECT_TRUE(cache.holds(0)); // hot, though used long ago
    EXPECT_LE(cache.ghosts(), 20u);
    EXPECT_GT(cache.ghosts(), 10u);
    EXPECT_EQ(cache.facts(1).uses, 0u) << "forgotten";
}

TEST(HeatCache, AChildIsNeverHotterThanItsParent) {
    constexpr size_t blocks = 3000;
    HeatCache cache(100, blocks);
    Watched watched(cache, blocks);
    for (const auto &path : conversations(7, 3000, blocks)) {
        watched.serve(path);
        for (size_t i = 1; i < path.size(); ++i) {
            if (cache.facts(path[i - 1].id).uses == 0) continue; // forgotten, as its children were before
            ASSERT_LE(cache.heat(path[i].id), cache.heat(path[i - 1].id));
        }
    }
}

TEST(HeatCache, PinsAndRelevanceHoldBlocksBack) {
    HeatOptions options;
    options.alpha = 0.99;
    HeatCache cache(3, 100, options);
    const auto one = [&](BlockId id) { served(cache, {{{id, 16}}}); };
    one(0), one(1), one(2);
    cache.pin(0);
    cache.set_relevance(1, 255);
    one(3);
    EXPECT_FALSE(cache.holds(2));
    for (BlockId id = 4; id < 20; ++id) one(id);
    EXPECT_TRUE(cache.holds(0) && cache.holds(1));
    cache.unpin(0);
    cache.clear_relevance(1);
    for (BlockId id = 20; id < 40; ++id) one(id);
    EXPECT_FALSE(cache.holds(0));
}

TEST(HeatCache, RelevanceOfAChildIsItsParentsToo) {
    HeatCache cache(10, 10);
    const std::vector<PathBlock> path = {{0, 16}, {1, 16}, {2, 16}};
    cache.begin(path);
    cache.admit(0, no_block), cache.admit(1, 0), cache.admit(2, 1);
    cache.end(path);
    cache.set_relevance(2, 200);
    EXPECT_EQ(cache.facts(0).relevance, 200);
    cache.set_cost(1, 16);
    EXPECT_EQ(cache.facts(0).cost, 16);
    EXPECT_EQ(cache.facts(2).cost, 0);
    cache.clear_relevance(2);
    EXPECT_EQ(cache.facts(0).relevance, 0);
}

TEST(HeatCache, DropForgetsAndLeavesRoom) {
    HeatCache cache(2, 10);
    served(cache, {{{0, 16}}, {{1, 16}}});
    cache.drop(0);
    EXPECT_EQ(cache.size(), 1u);
    EXPECT_EQ(cache.facts(0).uses, 0u);
    served(cache, {{{2, 16}}});
    EXPECT_TRUE(cache.holds(1) && cache.holds(2));
}

} // namespace
} // namespace hbf::kv::placement
