// SPDX-License-Identifier: Apache-2.0
// The cache decides by heat, and fetches ahead. What it decides changes no result.
#include <random>
#include <thread>

#include <unistd.h>

#include "core/engine/blocks/cache_fixture.hpp"
#include "core/engine/blocks/heat_ring.hpp"
#include "core/engine/observe/view.hpp"

namespace hbf::kv {
namespace {

class HeatTest : public CacheTest {
protected:
    // Blocks are in `soft` below: memory that is read in place.
    CacheOptions tiers(uint64_t hbm_blocks, uint64_t hbf_blocks, bool background) {
        auto options = small(hbm_blocks, 0);
        options.hbf = Place{device, soft, hbf_blocks * granule_size};
        options.background = background;
        options.settings.scheduler.ahas_alpha = 0.9;
        return options;
    }
    static uint64_t in(const KvCache &cache, const Sequence &sequence, Tier tier) {
        uint64_t count = 0;
        for (uint32_t layer = 0; layer < 2; ++layer)
            for (const BlockId block : sequence.blocks(layer)) {
                const auto info = must(cache.explain(block));
                count += info.identity && info.tier == tier ? 1 : 0;
            }
        return count;
    }
    template <class Done>
    static bool soon(const Done &done) { // what a thread does when it comes to it
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        while (!done()) {
            if (std::chrono::steady_clock::now() > until) return false;
            std::this_thread::yield();
        }
        return true;
    }
};

TEST(HeatRing, KeepsWhatFitsInItsOrderAndCountsTheRest) {
    auto ring = std::make_unique<HeatRing>();
    std::vector<uint32_t> words(HeatRing::longest);
    uint32_t next = 0, expected = 0;
    for (int round = 0; round < 50; ++round) {
        uint32_t pushed = 0;
        while (true) {
            for (size_t i = 0; i < words.size(); ++i) words[i] = next + static_cast<uint32_t>(i);
            if (!ring->push(words)) break;
            next += HeatRing::longest;
            ++pushed;
        }
        EXPECT_EQ(pushed, round == 0 ? HeatRing::room / HeatRing::longest : 3u);
        EXPECT_EQ(ring->dropped(), (round + 1u) * HeatRing::longest);
        ring->drain(3 * HeatRing::longest, [&](uint32_t word) { ASSERT_EQ(word, expected++); });
    }
    EXPECT_FALSE(ring->empty());
    ring->drain(HeatRing::room, [&](uint32_t word) { ASSERT_EQ(word, expected++); });
    EXPECT_TRUE(ring->empty());
    EXPECT_EQ(expected, next);
}

TEST(HeatRing, ManyWritersOneReader) {
    auto ring = std::make_unique<HeatRing>();
    constexpr uint32_t writers = 3, rounds = 4000, length = 7;
    std::atomic<uint32_t> running{writers};
    std::vector<std::thread> threads;
    for (uint32_t who = 0; who < writers; ++who)
        threads.emplace_back([&, who] {
            for (uint32_t i = 0; i < rounds; ++i) {
                uint32_t words[length];
                for (uint32_t k = 0; k < length; ++k) words[k] = who << 24 | i << 4 | k;
                (void)ring->push(words);
            }
            --running;
        });
    uint64_t taken = 0;
    uint32_t inside = 0, of = 0, latest[writers] = {};
    const auto take = [&](uint32_t word) {
        if (inside == 0) {
            of = word >> 4;
            EXPECT_GE((of & 0xfffff) + 1, latest[of >> 20]) << "a writer's come in their order";
            latest[of >> 20] = (of & 0xfffff) + 1;
        }
        EXPECT_EQ(word, of << 4 | inside) << "what was written at once is together";
        inside = (inside + 1) % length;
        ++taken;
    };
    while (running > 0) ring->drain(100, take);
    ring->drain(HeatRing::room, take);
    for (auto &thread : threads) thread.join();
    EXPECT_EQ(taken + ring->dropped(), uint64_t{writers} * rounds * length);
}

TEST_F(HeatTest, TheColdestGoesDownFirst) {
    KvCache cache = must(KvCache::open(tiers(16, 64, false)));
    Sequence hot = must(cache.sequence()), cool = must(cache.sequence());
    const auto first = tokens(1, 48), second = tokens(1000, 48);
    must(write(hot, first));
    must(write(cool, second));
    for (int i = 0; i < 64; ++i) (void)attended(hot), (void)attended(hot, 1); // older, but used
    Sequence more = must(cache.sequence());
    must(write(more, tokens(5000, 64)));
    EXPECT_EQ(in(cache, hot, Tier::hbm), 6u);
    EXPECT_EQ(in(cache, cool, Tier::hbm), 2u) << "its first blocks: no parent before its children";
    EXPECT_EQ(must(cache.explain(cool.blocks(0)[0])).tier, Tier::hbm);
    EXPECT_EQ(must(cache.explain(cool.blocks(1)[0])).tier, Tier::hbm);
    EXPECT_GT(must(cache.explain(hot.blocks(0)[0])).score, must(cache.explain(cool.blocks(0)[2])).score);
    EXPECT_EQ(check(cool, second), "");
}

TEST_F(HeatTest, ByRecencyTheOldestGoesDownFirst) {
    auto options = tiers(16, 64, false);
    options.policy = "lru";
    KvCache cache = must(KvCache::open(options));
    Sequence often = must(cache.sequence()), once = must(cache.sequence());
    must(write(often, tokens(1, 48)));
    must(write(once, tokens(1000, 48)));
    for (int i = 0; i < 64; ++i) (void)attended(often), (void)attended(often, 1);
    (void)attended(once), (void)attended(once, 1);
    Sequence more = must(cache.sequence());
    must(write(more, tokens(5000, 64)));
    EXPECT_EQ(in(cache, once, Tier::hbm), 6u);
    EXPECT_EQ(in(cache, often, Tier::hbm), 2u);
    options.policy = "lfu";
    const auto refused = KvCache::open(options);
    ASSERT_EQ(code_of(refused), Code::invalid);
    EXPECT_TRUE(contains(refused.error().message, "policy \"lfu\": there are ahas, lru")) << refused.error().message;
}

TEST_F(HeatTest, HotBlocksComeUpWhereThereIsRoomOrSomethingColder) {
    auto options = tiers(32, 128, true);
    options.settings.kv.swap_threshold = 0.5; // 16 blocks
    options.settings.kv.prefetch_depth = 0;   // by heat alone
    KvCache cache = must(KvCache::open(options));
    Sequence idle = must(cache.sequence()), asked = must(cache.sequence());
    const auto first = tokens(1, 64), second = tokens(1000, 128);
    must(write(asked, first));
    must(asked.move_to(Tier::hbf));
    must(write(idle, second)); // all the room there is
    EXPECT_EQ(in(cache, asked, Tier::hbf), 8u);
    EXPECT_TRUE(soon([&] {
        for (uint32_t layer = 0; layer < 2; ++layer) (void)attended(asked, layer);
        Sequence step = must(cache.sequence()); // a step, that has it decided
        must(write(step, tokens(9000, 1)));
        return in(cache, asked, Tier::hbm) == 8;
    })) << must(cache.explain(asked.blocks(0)[0])).placement;
    EXPECT_GT(in(cache, idle, Tier::hbf), 0u);
    EXPECT_EQ(check(asked, first), "");
    EXPECT_EQ(check(idle, second), "");
    EXPECT_EQ(cache.stats().prefetched_useful + cache.stats().prefetched_wasted + cache.stats().prefetched_late, 0u);
}

TEST_F(HeatTest, APinHoldsUntilItsTimeIsOver) {
    KvCache cache = must(KvCache::open(tiers(16, 64, false)));
    Sequence pinned = must(cache.sequence());
    must(write(pinned, tokens(1, 48)));
    EXPECT_EQ(must(pinned.pin(std::chrono::hours(1))), 6u);
    EXPECT_EQ(cache.stats().pinned, 6u);
    Sequence other = must(cache.sequence());
    must(write(other, tokens(1000, 48)));
    EXPECT_EQ(must(other.pin(std::chrono::hours(1))), 2u) << "half of the tier";
    const auto refused = cache.pin(other.blocks(1)[2], std::chrono::hours(1));
    ASSERT_EQ(code_of(refused), Code::exhausted);
    EXPECT_TRUE(contains(refused.error().message, "at most 50 %")) << refused.error().message;
    for (int i = 0; i < 200; ++i) (void)attended(other), (void)attended(other, 1);
    Sequence more = must(cache.sequence());
    must(write(more, tokens(5000, 128)));
    EXPECT_EQ(in(cache, pinned, Tier::hbm), 6u) << "cold, but pinned";
    const BlockId block = pinned.blocks(0)[2];
    EXPECT_TRUE(must(cache.explain(block)).pinned);
    EXPECT_TRUE(contains(must(cache.explain(block)).placement, "pinned until"));
    cache.unpin(block);
    EXPECT_FALSE(must(cache.explain(block)).pinned);
    must(write(more, tokens(6000, 16)));
    EXPECT_EQ(must(cache.explain(block)).tier, Tier::hbf);
    must(cache.pin(block, std::chrono::milliseconds(1)));
    EXPECT_TRUE(soon([&] { return !must(cache.explain(block)).pinned; }));
    EXPECT_EQ(code_of(cache.pin(block, std::chrono::milliseconds(0))), Code::invalid);
    EXPECT_EQ(code_of(cache.pin(123456, std::chrono::hours(1))), Code::invalid);
    must(write(pinned, tokens(70, 1)));
    EXPECT_EQ(code_of(cache.pin(pinned.blocks(0)[3], std::chrono::hours(1))), Code::invalid) << "being filled";
}

TEST_F(HeatTest, WhatIsNearTheQueryCountsHotter) {
    KvCache cache = must(KvCache::open(tiers(64, 64, false)));
    Sequence sequence = must(cache.sequence());
    // Keys of the second of three blocks point where the query does, those of the others away from it.
    std::vector<float> query(4 * dim, 0.0f);
    for (size_t i = 0; i < query.size(); i += 2) query[i] = 1;
    const auto all = tokens(1, 48);
    must(sequence.append(all));
    for (uint32_t layer = 0; layer < 2; ++layer) {
        std::vector<float> keys(all.size() * row), values(all.size() * row);
        for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i); // no two blocks alike
        for (size_t t = 0; t < all.size(); ++t)
            for (size_t i = 0; i < row; ++i) keys[t * row + i] = t / 16 == 1 ? query[i] : (i % 2 == 0 ? -0.1f : 1.0f);
        must(sequence.put(layer, std::as_bytes(std::span(keys)), std::as_bytes(std::span(values))));
    }
    const auto relevance = [&](uint32_t layer, size_t i) {
        return must(cache.explain(sequence.blocks(layer)[i])).relevance;
    };
    for (int i = 0; i < 9; ++i) must(sequence.set_query_vector(query));
    EXPECT_EQ(relevance(0, 1), 0) << "every tenth time";
    must(sequence.set_query_vector(query));
    for (uint32_t layer = 0; layer < 2; ++layer) {
        EXPECT_EQ(relevance(layer, 0), 1) << "a block before a relevant one is at least as relevant";
        EXPECT_EQ(relevance(layer, 1), 1);
        EXPECT_EQ(relevance(layer, 2), 0);
    }
    EXPECT_EQ(code_of(sequence.set_query_vector(std::span(query).first(5))), Code::invalid);
    query[3] = NAN;
    EXPECT_EQ(code_of(sequence.set_query_vector(query)), Code::invalid);
}

TEST_F(HeatTest, WithoutAQueryVectorThoseOfAttentionAreTaken) {
    KvCache cache = must(KvCache::open(tiers(64, 64, false)));
    Sequence sequence = must(cache.sequence());
    must(write(sequence, tokens(1, 48)));
    double most = 0;
    for (int i = 0; i < 16 * 11; ++i) (void)attended(sequence, 1);
    for (const BlockId block : sequence.blocks(0)) most = std::max(most, must(cache.explain(block)).relevance);
    EXPECT_EQ(most, 1);
}

TEST_F(HeatTest, ASessionThatComesBackIsFetchedAhead) {
    auto options = tiers(64, 256, true);
    KvCache cache = must(KvCache::open(options));
    const auto prompt = tokens(1, 129);
    {
        Sequence first = must(cache.sequence(prompt));
        must(write(first, prompt));
        must(first.move_to(Tier::hbf));
        ASSERT_EQ(in(cache, first, Tier::hbm), 0u);
    }
    Sequence again = must(cache.sequence(prompt));
    EXPECT_EQ(again.reused(), 128u);
    EXPECT_TRUE(soon([&] { return in(cache, again, Tier::hbm) == 16; })) << "the chain is known: nothing is guessed";
    EXPECT_EQ(cache.stats().prefetched_useful, 0u) << "nobody has read it";
    for (uint32_t layer = 0; layer < 2; ++layer) (void)attended(again, layer);
    auto stats = cache.stats();
    EXPECT_EQ(stats.prefetched_useful, 16 * granule_size);
    EXPECT_EQ(stats.prefetched_late + stats.prefetched_wasted, 0u);
    for (uint32_t layer = 0; layer < 2; ++layer) (void)attended(again, layer);
    EXPECT_EQ(cache.stats().prefetched_useful, 16 * granule_size) << "once";
    EXPECT_EQ(check(again, tokens(1, 128)), "");
}

TEST_F(HeatTest, WhatIsFetchedAndNotReadIsWasted) {
    KvCache cache = must(KvCache::open(tiers(64, 256, true)));
    const auto prompt = tokens(1, 65);
    {
        Sequence first = must(cache.sequence(prompt));
        must(write(first, prompt));
        must(first.move_to(Tier::hbf));
    }
    Sequence again = must(cache.sequence(prompt));
    ASSERT_TRUE(soon([&] { return in(cache, again, Tier::hbm) == 8; }));
    must(again.move_to(Tier::hbf));
    EXPECT_EQ(cache.stats().prefetched_wasted, 8 * granule_size);
    EXPECT_EQ(cache.stats().prefetched_useful, 0u);
}

TEST_F(HeatTest, NothingIsFetchedAheadWhereThereIsNoRoomOrNobodyWantsIt) {
    for (const bool wanted : {false, true}) {
        auto options = tiers(16, 256, true);
        options.settings.kv.prefetch_depth = wanted ? 2 : 0;
        KvCache cache = must(KvCache::open(options));
        const auto prompt = tokens(1, 129), other = tokens(2000, 96);
        {
            Sequence first = must(cache.sequence(prompt));
            must(write(first, prompt));
            must(first.move_to(Tier::hbf));
        }
        std::optional<Sequence> full;
        if (wanted) {
            full = must(cache.sequence());
            must(write(*full, other));
            for (int i = 0; i < 400; ++i) (void)attended(*full), (void)attended(*full, 1);
        }
        Sequence again = must(cache.sequence(prompt));
        EXPECT_EQ(check(again, tokens(1, 128)), "");
        const auto stats = cache.stats();
        const uint64_t limit = 9 * granule_size; // 60 % of 16
        EXPECT_LE(stats.prefetched_useful + stats.prefetched_late, wanted ? limit : 0);
    }
}

TEST_F(HeatTest, WhoAsksNextIsLearned) {
    KvCache cache = must(KvCache::open(tiers(128, 512, true)));
    std::vector<std::vector<uint32_t>> prompts;
    for (uint32_t i = 0; i < 3; ++i) prompts.push_back(tokens(1000 * (i + 1), 49));
    for (const auto &prompt : prompts) {
        Sequence made = must(cache.sequence(prompt));
        must(write(made, prompt));
    }
    for (int round = 0; round < 8; ++round)
        for (const auto &prompt : prompts) {
            Sequence one = must(cache.sequence(prompt));
            ASSERT_EQ(one.reused(), 48u);
        }
    // The second comes after the first, so its blocks come up when the first is asked for.
    BlockId second = no_block;
    {
        Sequence one = must(cache.sequence(prompts[1]));
        second = one.blocks(1)[2];
        must(one.move_to(Tier::hbf));
        ASSERT_EQ(must(cache.explain(second)).tier, Tier::hbf);
    }
    {
        Sequence last = must(cache.sequence(prompts[2]));
    }
    Sequence first = must(cache.sequence(prompts[0]));
    EXPECT_TRUE(soon([&] { return must(cache.explain(second)).tier == Tier::hbm; }));
}

// Placement moves bytes and changes none, nor the order in which they are added up.
TEST_F(HeatTest, ResultsAreTheSameWithEveryPolicyBudgetAndSettingOfPrefetch) {
    std::vector<float> expected;
    for (const char *policy : {"ahas", "lru"})
        for (const uint64_t hbm : {12u, 20u, 200u})
            for (const uint32_t depth : {0u, 2u})
                for (const double alpha : {0.0, 0.999})
                    for (const bool background : {false, true}) {
                        auto options = tiers(hbm, 400, background);
                        options.policy = policy;
                        options.settings.kv.prefetch_depth = depth;
                        options.settings.scheduler.ahas_alpha = alpha > 0 ? std::optional(alpha) : std::nullopt;
                        KvCache cache = must(KvCache::open(options));
                        std::vector<float> all;
                        const auto prompt = tokens(1, 97);
                        for (int turn = 0; turn < 2; ++turn) {
                            Sequence sequence = must(cache.sequence(prompt));
                            must(write(sequence, std::span(prompt).subspan(sequence.tokens())));
                            Sequence other = must(cache.sequence());
                            must(write(other, tokens(3000u + static_cast<uint32_t>(turn), 40)));
                            for (uint32_t i = 0; i < 20; ++i) {
                                const uint32_t next[] = {i};
                                must(write(sequence, next));
                                for (uint32_t layer = 0; layer < 2; ++layer) {
                                    const auto out = attended(sequence, layer);
                                    all.insert(all.end(), out.begin(), out.end());
                                }
                            }
                        }
                        if (expected.empty()) expected = all;
                        ASSERT_TRUE(std::equal(all.begin(), all.end(), expected.begin(), expected.end()))
                            << policy << ", " << hbm << " blocks, depth " << depth << ", alpha " << alpha;
                        ASSERT_EQ(cache.stats().damaged, 0u);
                    }
}

TEST_F(HeatTest, WhatDecidesIsOnThePage) {
    auto options = tiers(16, 64, true);
    options.settings.scheduler.hbm_threshold = 0.9;
    options.settings.scheduler.ahas_alpha = 0.5;
    KvCache cache = must(KvCache::open(options));
    const auto files = observe::find_pages_of(static_cast<uint32_t>(::getpid()));
    ASSERT_EQ(files.size(), 1u);
    const auto page = must(observe::View::open(files.front()));
    EXPECT_EQ(page.policy(), "ahas");
    Sequence sequence = must(cache.sequence());
    must(write(sequence, tokens(1, 64)));
    for (int i = 0; i < 40; ++i) (void)attended(sequence), (void)attended(sequence, 1);
    must(cache.pin(sequence.blocks(0)[0], std::chrono::hours(1)));
    EXPECT_TRUE(soon([&] {
        Sequence step = must(cache.sequence()); // a step, that has it written; its room is given back
        must(write(step, tokens(9000, 1)));
        return page.header().scheduler.t_hbm.load() == 900'000 && page.header().scheduler.half_life_milli.load() == 1000 &&
               page.block(sequence.blocks(0)[0])->uses > 1;
    }));
    const auto block = *page.block(sequence.blocks(0)[0]);
    EXPECT_NE(block.flags() & observe::block_pinned, 0u);
    EXPECT_GT(block.score, 0);
    EXPECT_EQ(block.reason(), observe::Reason::pinned);
    EXPECT_EQ(page.header().scheduler.half_life_adapted.load(), 0u);
}

TEST_F(HeatTest, ThresholdsWithWhichNothingCouldMoveAreRefused) {
    auto options = tiers(16, 64, false);
    options.settings.scheduler.hbm_threshold = 1;
    const auto refused = KvCache::open(options);
    ASSERT_EQ(code_of(refused), Code::invalid);
    EXPECT_TRUE(contains(refused.error().message, "hbm_threshold = 1")) << refused.error().message;
}

} // namespace
} // namespace hbf::kv
