// SPDX-License-Identifier: Apache-2.0
// A log as the cold tier: what goes there comes back, after a restart too, or is computed again; never other bytes.
#include <algorithm>
#include <thread>

#include "core/engine/blocks/cold_fixture.hpp"

namespace hbf::kv {
namespace {

TEST_F(ColdTierTest, ARestartFindsThePrefixAndTheSameBytes) {
    const auto prompt = tokens(1, 64);
    std::vector<float> before;
    {
        KvCache cache = must(KvCache::open(logged()));
        Sequence sequence = must(cache.sequence());
        must(write(sequence, prompt));
        before = attended(sequence, 1);
    }
    KvCache cache = must(KvCache::open(logged()));
    Sequence sequence = must(cache.sequence(and_one(prompt)));
    EXPECT_EQ(sequence.reused(), 64u);
    EXPECT_EQ(check(sequence, prompt), "");
    EXPECT_EQ(attended(sequence, 1), before);
    EXPECT_EQ(cache.stats().log.found_blocks, 8u);
    EXPECT_EQ(cache.stats().sealed_blocks, 0u) << "nothing was computed again";
    EXPECT_EQ(cache.stats().log.loaded_blocks, 8u) << "there is room for all of them";
    EXPECT_EQ(must(cache.explain(sequence.blocks(0)[0])).tier, Tier::hbm);
    must(sequence.move_to(Tier::cold));
    EXPECT_EQ(attended(sequence, 1), before);
    EXPECT_EQ(cache.stats().log.stored_blocks, 0u) << "it is all there";
    EXPECT_EQ(must(sequence.move_to(Tier::hbm)), 8u);
    EXPECT_EQ(attended(sequence, 1), before);
    must(write(sequence, tokens(7000, 20)));
    EXPECT_EQ(must(cache.sequence(and_one(prompt), "somebody else")).reused(), 0u);
}

TEST_F(ColdTierTest, WhereMemoryIsNotFreeBlocksAreReadInTheLog) {
    const auto prompt = tokens(1, 128);
    leave_behind(logged(), prompt);
    KvCache cache = must(KvCache::open(logged(10))); // 6 of the 16 blocks are loaded
    Sequence sequence = must(cache.sequence(and_one(prompt)));
    EXPECT_EQ(sequence.reused(), 128u);
    EXPECT_EQ(cache.stats().log.loaded_blocks, 6u);
    EXPECT_EQ(must(cache.explain(sequence.blocks(1)[2])).tier, Tier::hbm) << "the first tokens of all layers";
    EXPECT_EQ(must(cache.explain(sequence.blocks(1)[3])).tier, Tier::cold);
    EXPECT_EQ(check(sequence, prompt), "");
    must(cache.migrate(sequence.blocks(1)[3], Tier::hbm));
    EXPECT_EQ(check(sequence, prompt), "");
}

TEST_F(ColdTierTest, SavingIsAskedForOrSwitchedOff) {
    auto options = logged();
    options.keep_at_close = false;
    const auto prompt = tokens(1, 64), other = tokens(500, 32);
    {
        KvCache cache = must(KvCache::open(options));
        Sequence sequence = must(cache.sequence());
        must(write(sequence, prompt));
        EXPECT_EQ(must(cache.save()), 8u);
        EXPECT_EQ(must(cache.save()), 8u);
        EXPECT_EQ(cache.stats().log.stored_blocks, 8u) << "what is there is not written again";
        Sequence second = must(cache.sequence());
        must(write(second, other));
    }
    KvCache cache = must(KvCache::open(options));
    EXPECT_EQ(must(cache.sequence(and_one(prompt))).reused(), 64u);
    EXPECT_EQ(must(cache.sequence(and_one(other))).reused(), 0u);
    KvCache none = must(KvCache::open(small()));
    EXPECT_EQ(code_of(none.save()), Code::unsupported);
}

TEST_F(ColdTierTest, UnderPressureBlocksGoThereInGroupsAndComeBackRight) {
    for (const uint64_t hbf : {uint64_t{0}, uint64_t{12}}) {
        auto options = logged(80, hbf, 64);
        options.keep_at_close = false;
        const auto base = static_cast<uint32_t>(hbf * 1000000);
        KvCache cache = must(KvCache::open(options));
        std::vector<Sequence> sequences;
        for (uint32_t i = 0; i < 40; ++i) {
            sequences.push_back(must(cache.sequence()));
            must(write(sequences.back(), tokens(base + 1000 * i, 64))); // 8 blocks each
        }
        const auto stats = cache.stats();
        EXPECT_LE(stats.tiers[0].used, stats.tiers[0].budget);
        EXPECT_GE(stats.log.stored_blocks, 40u * 8 - 80 - hbf);
        EXPECT_EQ(stats.tiers[2].blocks, stats.log.stored_blocks);
        EXPECT_EQ(stats.log.held_bytes, stats.tiers[2].blocks * granule_size);
        if (hbf == 0) {
            EXPECT_LT(stats.log.commits, stats.log.stored_blocks / 4) << "one commit for several blocks";
        }
        for (uint32_t i = 0; i < 40; ++i) EXPECT_EQ(check(sequences[i], tokens(base + 1000 * i, 64)), "");
        must(sequences[0].move_to(Tier::hbm));
        EXPECT_EQ(check(sequences[0], tokens(base, 64)), "");
        const uint64_t stored = cache.stats().log.stored_bytes;
        must(sequences[0].move_to(Tier::cold));
        EXPECT_EQ(cache.stats().log.stored_bytes - stored, (8 - 8) * granule_size) << "it is there already";
        EXPECT_EQ(check(sequences[0], tokens(base, 64)), "");
        sequences.clear();
        EXPECT_EQ(cache.stats().log.held_bytes, 0u);
        EXPECT_EQ(cache.stats().tiers[2].blocks, 0u) << "the log knows of them, the cache need not";
        EXPECT_EQ(must(cache.sequence(and_one(tokens(base + 3000, 64)))).reused(), 64u) << "and they are found again";
    }
}

TEST_F(ColdTierTest, WhatSequencesHoldIsNeverEvictedFromTheLog) {
    KvCache cache = must(KvCache::open(logged(32, 0, 4)));
    Sequence held = must(cache.sequence());
    const auto mine = tokens(1, 160); // 20 blocks of the 24 that may be held
    must(write(held, mine));
    must(held.move_to(Tier::cold));
    for (uint32_t i = 1; i < 40; ++i) { // five times the log's capacity
        Sequence other = must(cache.sequence());
        must(write(other, tokens(10000 * i, 64)));
    }
    EXPECT_GT(cache.stats().log.evicted_granules, 0u);
    EXPECT_EQ(check(held, mine), "");
    Sequence more = must(cache.sequence());
    must(write(more, tokens(5000000, 80)));
    const auto refused = more.move_to(Tier::cold);
    EXPECT_LT(refused.value_or(0), 10u) << "half of it has no right to stay there";
    const auto blocks = more.blocks(1);
    const auto why = cache.migrate(blocks.back(), Tier::cold);
    ASSERT_EQ(code_of(why), Code::exhausted);
    EXPECT_TRUE(contains(why.error().message, "give a larger cold_storage.size_gb, or drop sequences"));
    EXPECT_EQ(check(more, tokens(5000000, 80)), "");
    EXPECT_EQ(check(held, mine), "");
}

TEST_F(ColdTierTest, TheSameTokensComputedOtherwiseKeepTheirOwnBytes) {
    const auto prompt = tokens(1, 32);
    {
        KvCache cache = must(KvCache::open(logged()));
        Sequence a = must(cache.sequence()), odd = must(cache.sequence());
        must(write(a, prompt));
        must(odd.append(prompt));
        for (uint32_t layer = 0; layer < 2; ++layer) {
            auto keys = rows(prompt, 0, layer, true), values = rows(prompt, 0, layer, false);
            values[5] += 1;
            must(odd.put(layer, std::as_bytes(std::span(keys)), std::as_bytes(std::span(values))));
        }
        const auto first = attended(a), second = attended(odd);
        ASSERT_NE(first, second);
        must(a.move_to(Tier::cold));
        must(odd.move_to(Tier::cold));
        EXPECT_EQ(attended(a), first);
        EXPECT_EQ(attended(odd), second);
        must(odd.move_to(Tier::hbm));
        EXPECT_EQ(attended(odd), second);
        must(odd.move_to(Tier::cold));
    }
    KvCache cache = must(KvCache::open(logged()));
    Sequence a = must(cache.sequence(and_one(prompt)));
    EXPECT_EQ(a.reused(), 32u);
    EXPECT_EQ(check(a, prompt), "") << "what is found is what was found before";
}

TEST_F(ColdTierTest, BlocksThatShareBytesAreFoundAfterARestart) {
    const auto prompt = tokens(1, 64);
    {
        KvCache cache = must(KvCache::open(logged()));
        Sequence sequence = must(cache.sequence());
        must(write(sequence, prompt, 2, true)); // layer 1 has the bytes of layer 0
        must(sequence.move_to(Tier::cold));
        EXPECT_EQ(check(sequence, prompt, 2, true), "");
    }
    KvCache cache = must(KvCache::open(logged()));
    Sequence sequence = must(cache.sequence(and_one(prompt)));
    EXPECT_EQ(sequence.reused(), 64u);
    EXPECT_EQ(check(sequence, prompt, 2, true), "");
}

TEST_F(ColdTierTest, AnotherModelOrLayoutIsRefusedWithTheReason) {
    leave_behind(logged(), tokens(1, 64));
    auto other = logged();
    other.model.digest.bytes[0] = 8;
    {
        KvCache cache = must(KvCache::open(other)); // has a log of its own
        EXPECT_EQ(must(cache.sequence(and_one(tokens(1, 64)))).reused(), 0u);
        ASSERT_FALSE(cache.notes().empty());
        EXPECT_TRUE(contains(cache.notes()[0], "1 logs of other models or layouts are there"));
    }
    const auto root = scratch.log();
    std::filesystem::path mine, theirs;
    for (const auto &entry : std::filesystem::directory_iterator(root))
        (contains(entry.path().filename().string(), "model-07") ? mine : theirs) = entry.path();
    std::filesystem::remove_all(theirs);
    std::filesystem::rename(mine, theirs); // somebody moves a log to where another model's is looked for
    const auto refused = KvCache::open(other);
    ASSERT_EQ(code_of(refused), Code::invalid);
    EXPECT_TRUE(contains(refused.error().message, "holds KV of model")) << refused.error().message;
    EXPECT_TRUE(contains(refused.error().message, "a model of tests")) << refused.error().message;
}

TEST_F(ColdTierTest, TwoEnginesOnOneFolderAndOtherMistakesAreSaid) {
    KvCache cache = must(KvCache::open(logged()));
    const auto busy = KvCache::open(logged());
    ASSERT_EQ(code_of(busy), Code::busy);
    EXPECT_TRUE(contains(busy.error().message, "writes this log, and only one can")) << busy.error().message;

    auto options = logged();
    options.cold = Place{device, cold, 64 * granule_size};
    const auto both = KvCache::open(options);
    ASSERT_EQ(code_of(both), Code::invalid);
    EXPECT_TRUE(contains(both.error().message, "one of them can be the cold tier")) << both.error().message;
    options = logged();
    options.model.digest = {};
    EXPECT_TRUE(contains(KvCache::open(options).error().message, "digest is not given"));
    options = logged();
    options.settings.cold_storage.path += "/nowhere";
    const auto nowhere = KvCache::open(options);
    ASSERT_EQ(code_of(nowhere), Code::unavailable);
    EXPECT_TRUE(contains(nowhere.error().message, "remedy: make the folder")) << nowhere.error().message;
    options = logged(64, 0, 2);
    options.model.digest.bytes[0] = 9;
    EXPECT_TRUE(contains(KvCache::open(options).error().message, "at least three segments"));
}

TEST_F(ColdTierTest, TenantsNeverMix) {
    auto options = logged(64, 0, 24);
    options.cold_tenants = 3;
    const auto prompt = tokens(1, 64);
    leave_behind(options, prompt, "a");
    {
        KvCache cache = must(KvCache::open(options));
        EXPECT_EQ(must(cache.sequence(and_one(prompt))).reused(), 0u);
        EXPECT_EQ(must(cache.sequence(and_one(prompt), "b")).reused(), 0u);
        EXPECT_EQ(must(cache.sequence(and_one(prompt), "a")).reused(), 64u);
        // One tenant too many works in memory, and is told of.
        EXPECT_TRUE(cache.notes().empty());
        Sequence third = must(cache.sequence({}, "c"));
        must(write(third, prompt));
        EXPECT_EQ(code_of(cache.migrate(third.blocks(0)[0], Tier::cold)), Code::unsupported);
        EXPECT_EQ(check(third, prompt), "");
        ASSERT_EQ(cache.notes().size(), 1u);
        EXPECT_TRUE(contains(cache.notes()[0], "remedy: logs for more tenants, or have the oldest wiped"));
        EXPECT_EQ(cache.stats().log.logs, 3u);
        // The same bytes of two tenants are stored twice: who shares tells the other that they are there.
        Sequence one = must(cache.sequence({}, "a")), two = must(cache.sequence({}, "b"));
        must(write(one, tokens(300, 16)));
        must(write(two, tokens(300, 16)));
        EXPECT_EQ(must(cache.explain(two.blocks(0)[0])).same_as, no_block);
    }
    KvCache cache = must(KvCache::open(options));
    EXPECT_EQ(must(cache.sequence(and_one(prompt), "c")).reused(), 0u);
}

TEST_F(ColdTierTest, TheLogOfATenantIsWipedForAnotherWhenAsked) {
    auto options = logged(64, 0, 24);
    options.cold_tenants = 2;
    options.wipe_cold_tenants = true;
    const auto prompt = tokens(1, 64);
    const auto secret = rows(std::span(prompt).first(16), 0, 1, false); // the kernels keep channels of a token apart
    const auto on_medium = [&] {
        for (const auto &file : segments()) {
            std::ifstream stream(file, std::ios::binary);
            const std::string all(std::istreambuf_iterator<char>(stream), {});
            if (contains(all, std::string(reinterpret_cast<const char *>(secret.data()), 16 * sizeof(float)))) return true;
        }
        return false;
    };
    leave_behind(options, prompt, "a");
    ASSERT_TRUE(on_medium()) << "the test looks for the wrong bytes";
    KvCache cache = must(KvCache::open(options));
    Sequence b = must(cache.sequence(and_one(prompt), "b"));
    EXPECT_EQ(b.reused(), 0u);
    EXPECT_FALSE(on_medium());
    ASSERT_EQ(cache.notes().size(), 1u);
    EXPECT_TRUE(contains(cache.notes()[0], "was wiped for another one")) << cache.notes()[0];
    must(write(b, prompt));
    must(b.move_to(Tier::cold));
    EXPECT_EQ(check(b, prompt), "");
    // The other tenant's turn would wipe what is in use.
    EXPECT_EQ(must(cache.sequence(and_one(prompt), "a")).reused(), 0u);
    EXPECT_EQ(check(b, prompt), "");
}

// The thread that moves blocks holds none of them: what waits for its turn there may go meanwhile.
TEST_F(ColdTierTest, WhatIsDroppedWhileItWaitsToMoveIsLeftAlone) {
    auto options = logged(64, 24, 64);
    options.background = true;
    KvCache cache = must(KvCache::open(options));
    for (uint32_t i = 0; i < 400; ++i) {
        const auto prompt = tokens(i * 1000, 33);
        Sequence first = must(cache.sequence(prompt));
        must(write(first, prompt));
        (void)first.move_to(Tier::cold);                         // but for what is being moved just now
        Sequence second = must(cache.sequence(and_one(prompt))); // has them come up, and ends
        ASSERT_GT(second.reused(), 0u);
    }
    EXPECT_EQ(cache.stats().log.lost_blocks, 0u);
    EXPECT_EQ(cache.stats().damaged, 0u);
}

TEST_F(ColdTierTest, ManyThreadsUnderPressure) {
    auto options = logged(64, 24, 64);
    options.background = true;
    KvCache cache = must(KvCache::open(options));
    const auto work = [&](uint32_t seed) {
        std::mt19937 random(seed);
        std::vector<std::pair<Sequence, std::vector<uint32_t>>> mine;
        for (int i = 0; i < 60; ++i) {
            const uint32_t what = random() % 8;
            if (mine.size() < 2 || (what < 3 && mine.size() < 6)) {
                const auto prompt = tokens(random() % 6 * 1000, 33 + random() % 60); // six that all threads share
                Sequence sequence = must(cache.sequence(prompt));
                must(write(sequence, std::span(prompt).subspan(sequence.reused())));
                mine.emplace_back(std::move(sequence), prompt);
            } else if (auto &[sequence, all] = mine[random() % mine.size()]; what < 5) {
                (void)sequence.move_to(static_cast<Tier>(random() % 3));
            } else if (what < 7) {
                ASSERT_EQ(check(sequence, all), "") << "seed " << seed << ", step " << i;
            } else {
                std::swap(mine[random() % mine.size()], mine.back());
                mine.pop_back();
            }
            if (i % 20 == 0) must(cache.save());
        }
    };
    std::vector<std::thread> threads;
    for (uint32_t seed = 0; seed < 4; ++seed) threads.emplace_back(work, seed);
    for (std::thread &thread : threads) thread.join();
    auto stats = cache.stats();
    // What is on its way just now is held until it is there.
    for (const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
         stats.log.held_bytes != 0 && std::chrono::steady_clock::now() < until;) {
        std::this_thread::yield();
        stats = cache.stats();
    }
    EXPECT_EQ(stats.log.lost_blocks, 0u);
    EXPECT_EQ(stats.log.held_bytes, 0u);
    EXPECT_EQ(stats.damaged, 0u);
}

} // namespace
} // namespace hbf::kv
