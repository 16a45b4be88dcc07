// SPDX-License-Identifier: Apache-2.0
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/engine/placement/scheduler.hpp"

namespace hbf::kv::placement {
namespace {

using testing::HasSubstr;

SchedulerConfig small() {
    SchedulerConfig config;
    config.hbm_room = 4;
    config.hbf_room = 8;
    config.most_blocks = 100;
    config.alpha = 0.99;
    return config;
}

void use(Scheduler &scheduler, std::vector<BlockId> ids) {
    std::vector<PathBlock> path;
    for (const BlockId id : ids) path.push_back({id, 16});
    scheduler.use(path);
}

// Used, and placed in `tier`, making room as the engine does.
void bring(Scheduler &scheduler, BlockId id, Tier tier, BlockId parent = no_block) {
    use(scheduler, {id});
    while (scheduler.full(tier)) {
        const auto out = scheduler.victim(tier);
        ASSERT_TRUE(out) << out.error();
    }
    scheduler.placed(id, parent, tier);
}

TEST(Bands, EveryTierAndBand) {
    const Thresholds normal;
    struct Case {
        double score;
        Band band;
        Tier from_hbm, from_hbf, from_cold;
    };
    const Tier m = Tier::hbm, f = Tier::hbf, c = Tier::cold;
    for (const auto &[score, band, from_hbm, from_hbf, from_cold] : {
             Case{1.0, Band::hot, m, m, m},
             Case{0.951, Band::hot, m, m, m},
             Case{0.95, Band::settled, m, f, c}, // above, not at
             Case{0.5, Band::settled, m, f, c},
             Case{0.3, Band::settled, m, f, c},
             Case{0.299, Band::warm, f, f, f},
             Case{0.05, Band::warm, f, f, f},
             Case{0.049, Band::cold, c, c, c},
             Case{0.0, Band::cold, c, c, c},
         }) {
        EXPECT_EQ(band_of(score, normal), band) << score;
        EXPECT_EQ(tier_for(m, band), from_hbm) << score;
        EXPECT_EQ(tier_for(f, band), from_hbf) << score;
        EXPECT_EQ(tier_for(c, band), from_cold) << score;
    }
}

TEST(Bands, PressureModesBeginAndEndApart) {
    const Thresholds normal;
    Pressure pressure{PressureRules{}};
    const auto hbm = [&](double used, uint32_t sequences) {
        pressure.update(used, sequences);
        return pressure.apply(normal).hbm;
    };
    EXPECT_EQ(hbm(0.85, 50), 0.95); // above, not at
    EXPECT_EQ(hbm(0.86, 50), 0.98);
    EXPECT_EQ(hbm(0.82, 50), 0.98) << "still";
    EXPECT_EQ(hbm(0.80, 50), 0.95);
    EXPECT_EQ(hbm(0.5, 51), 0.97);
    EXPECT_EQ(pressure.apply(normal).hbf, 0.25);
    EXPECT_EQ(pressure.mode(), "crowded");
    EXPECT_EQ(hbm(0.5, 46), 0.97) << "still";
    EXPECT_EQ(hbm(0.9, 46), 0.98) << "the stricter of both";
    EXPECT_EQ(pressure.apply(normal).hbf, 0.25);
    EXPECT_EQ(pressure.mode(), "full and crowded");
    EXPECT_EQ(hbm(0.1, 45), 0.95);
    EXPECT_EQ(pressure.apply(normal).hbf, 0.3);
    EXPECT_EQ(pressure.mode(), "normal");
}

TEST(Bands, PressureNeverLoosens) {
    Pressure pressure{PressureRules{}};
    pressure.update(0.9, 100);
    const auto now = pressure.apply({0.99, 0.2, 0.05});
    EXPECT_EQ(now.hbm, 0.99);
    EXPECT_EQ(now.hbf, 0.2);
}

TEST(Scheduler, RefusesWhatWouldDeadlockAndSaysWhy) {
    const auto refused = [](auto change) {
        auto config = small();
        change(config);
        const auto made = Scheduler::create(config);
        return made ? std::string("accepted") : made.error();
    };
    EXPECT_EQ(refused([](auto &) {}), "accepted");
    EXPECT_THAT(refused([](auto &c) { c.thresholds.hbm = 1.0; }),
                HasSubstr("hbm_threshold = 1: no block's score reaches 1"));
    EXPECT_THAT(refused([](auto &c) { c.thresholds.hbm = 1.5; }), HasSubstr("hbm_threshold = 1.5"));
    EXPECT_THAT(refused([](auto &c) { c.thresholds.hbm = NAN; }), HasSubstr("hbm_threshold = nan"));
    EXPECT_THAT(refused([](auto &c) { c.thresholds.cold = -0.1; }), HasSubstr("cold_threshold = -0.1"));
    EXPECT_THAT(refused([](auto &c) { c.thresholds.hbf = 0.95; }), HasSubstr("to and fro for ever"));
    EXPECT_THAT(refused([](auto &c) { c.thresholds.cold = 0.3; }), HasSubstr("no score would send a block to HBF"));
    EXPECT_THAT(refused([](auto &c) { c.thresholds.cold = 0.27; }), HasSubstr("cold_threshold = 0.27")) << "when crowded";
    EXPECT_THAT(refused([](auto &c) { c.pressure.full_hbm = 1; }), HasSubstr("under memory pressure = 1"));
    EXPECT_THAT(refused([](auto &c) { c.pressure.full_until = 0.9; }), HasSubstr("would never be left"));
    EXPECT_THAT(refused([](auto &c) { c.alpha = 1; }), HasSubstr("nothing would ever cool down"));
    EXPECT_THAT(refused([](auto &c) { c.alpha = -0.5; }), HasSubstr("ahas_alpha = -0.5"));
    EXPECT_THAT(refused([](auto &c) { c.hbm_room = 0; }), HasSubstr("no room in HBM"));
    EXPECT_THAT(refused([](auto &c) { c.hbf_room = 0; }), HasSubstr("no room in HBF"));
    EXPECT_EQ(refused([](auto &c) { c.hbf_room = 0, c.hbf_tier = false; }), "accepted");
    EXPECT_THAT(refused([](auto &c) { c.of_request = 0; }), HasSubstr("above 0"));
    EXPECT_THAT(refused([](auto &c) { c.most_pinned = 1; }), HasSubstr("nothing could move"));
    EXPECT_THAT(refused([](auto &c) { c.relevance_queries = 0; }), HasSubstr("every 0 queries"));
}

TEST(Scheduler, HotBlocksGoUpAndColdOnesDown) {
    Scheduler scheduler(small());
    for (BlockId id = 0; id < 4; ++id) bring(scheduler, id, Tier::hbm);
    for (BlockId id = 10; id < 18; ++id) bring(scheduler, id, Tier::hbf);
    for (int i = 0; i < 3; ++i)
        bring(scheduler, 30 + static_cast<BlockId>(i), Tier::hbm), bring(scheduler, 40 + static_cast<BlockId>(i), Tier::hbf);
    for (int i = 0; i < 20; ++i) use(scheduler, {17});
    const auto hot = scheduler.decide(17);
    EXPECT_EQ(hot.from, Tier::hbf);
    EXPECT_EQ(hot.to, Tier::hbm);
    EXPECT_EQ(hot.band, Band::hot);
    for (int i = 0; i < 2000; ++i) use(scheduler, {99});
    for (BlockId id = 50; id < 70; ++id) bring(scheduler, id, Tier::hbm), bring(scheduler, id, Tier::hbf); // the lines rise
    EXPECT_EQ(scheduler.decide(10).band, Band::cold);
    EXPECT_EQ(scheduler.decide(10).to, Tier::cold);
}

TEST(Scheduler, UnderPressureItTakesMoreToComeUp) {
    Scheduler scheduler(small());
    for (BlockId id = 0; id < 5; ++id) bring(scheduler, id, Tier::hbm);
    bring(scheduler, 20, Tier::hbf);
    ASSERT_EQ(scheduler.decide(20).to, Tier::hbm);
    scheduler.set_pressure(0.95, 1);
    EXPECT_EQ(scheduler.decide(20).to, Tier::hbf) << scheduler.explain(20);
    scheduler.set_pressure(0.5, 1);
    EXPECT_EQ(scheduler.decide(20).to, Tier::hbm);
}

TEST(Scheduler, AVictimWithACopyBelowIsNotWritten) {
    Scheduler scheduler(small());
    bring(scheduler, 1, Tier::hbf);
    bring(scheduler, 1, Tier::hbm);
    EXPECT_TRUE(scheduler.has(1, Tier::hbf)) << "the copy stays";
    use(scheduler, {2, 3});
    bring(scheduler, 2, Tier::hbm);
    use(scheduler, {2});
    ASSERT_EQ(scheduler.victim(Tier::hbm), 1u);
    EXPECT_EQ(scheduler.write_to(1, Tier::hbm), std::nullopt);
    EXPECT_EQ(scheduler.tier(1), Tier::hbf);
    use(scheduler, {3});
    ASSERT_EQ(scheduler.victim(Tier::hbm), 2u);
    EXPECT_EQ(scheduler.write_to(2, Tier::hbm), Tier::hbf);
    EXPECT_EQ(scheduler.write_to(1, Tier::hbf), Tier::cold);
    scheduler.placed(1, no_block, Tier::cold);
    EXPECT_EQ(scheduler.write_to(1, Tier::hbf), std::nullopt);
}

TEST(Scheduler, NoParentGoesBeforeItsChildren) {
    Scheduler scheduler(small());
    use(scheduler, {0, 1, 2});
    for (const BlockId id : {0u, 1u, 2u}) scheduler.placed(id, id > 0 ? id - 1 : no_block, Tier::hbm);
    use(scheduler, {50});
    scheduler.set_cost(2, 1e6);
    for (const BlockId id : {2u, 1u, 0u}) EXPECT_EQ(scheduler.victim(Tier::hbm), id);
    EXPECT_FALSE(scheduler.victim(Tier::hbm));
}

TEST(Scheduler, AParentInHbfWaitsForItsChildrenInBothTiers) {
    Scheduler scheduler(small());
    bring(scheduler, 0, Tier::hbf);
    bring(scheduler, 1, Tier::hbf, 0);
    bring(scheduler, 1, Tier::hbm); // still after 0
    bring(scheduler, 2, Tier::hbf, 0);
    EXPECT_FALSE(scheduler.may_come_up(2)) << "before what it comes after";
    ASSERT_EQ(scheduler.victim(Tier::hbf), 2u);
    EXPECT_FALSE(scheduler.victim(Tier::hbf)) << "1 has a hotter copy, and 0 comes before it";
    ASSERT_EQ(scheduler.victim(Tier::hbm), 1u);
    ASSERT_EQ(scheduler.victim(Tier::hbf), 1u);
    ASSERT_EQ(scheduler.victim(Tier::hbf), 0u);
    EXPECT_EQ(scheduler.size(Tier::hbf) + scheduler.size(Tier::hbm), 0u);
}

TEST(Scheduler, ATierIsFullByWhatItsBlocksWeigh) {
    Scheduler scheduler(small());
    scheduler.placed(1, no_block, Tier::hbm, 3);
    EXPECT_FALSE(scheduler.full(Tier::hbm));
    EXPECT_TRUE(scheduler.full(Tier::hbm, 2));
    scheduler.placed(2, no_block, Tier::hbm, 2); // who has the room decides: the tier's pool
    EXPECT_EQ(scheduler.size(Tier::hbm), 5u);
    scheduler.removed(1, Tier::hbm);
    EXPECT_EQ(scheduler.size(Tier::hbm), 2u);
    scheduler.set_room(Tier::hbm, 2);
    EXPECT_TRUE(scheduler.full(Tier::hbm));
    ASSERT_FALSE(scheduler.pin(2, 1)) << "half of the tier at most";
    scheduler.forget(2);
    EXPECT_EQ(scheduler.size(Tier::hbm), 0u);
    EXPECT_FALSE(scheduler.pin(2, 1)) << "in no tier";
}

TEST(Scheduler, WhatMayNotGoIsPassedOverAndStays) {
    auto config = small();
    config.alpha = 0.5; // each request is an octave apart
    Scheduler scheduler(config);
    for (BlockId id = 0; id < 4; ++id) bring(scheduler, id, Tier::hbm);
    const auto even = [](BlockId id) { return id % 2 == 0 && id > 0; };
    EXPECT_EQ(scheduler.coldest(Tier::hbm, even), 2u);
    EXPECT_EQ(scheduler.coldest(Tier::hbm, [](BlockId) { return false; }), no_block);
    EXPECT_EQ(scheduler.coldest(Tier::hbf, even), no_block);
    for (BlockId id = 0; id < 4; ++id) EXPECT_EQ(scheduler.victim(Tier::hbm), id);
    const auto none = scheduler.victim(Tier::hbm);
    ASSERT_FALSE(none);
    EXPECT_THAT(none.error(), HasSubstr("none of its blocks"));
}

TEST(Scheduler, CopiesThatAreKeptTwiceAreFound) {
    Scheduler scheduler(small());
    bring(scheduler, 7, Tier::hbf);
    EXPECT_EQ(scheduler.spare(Tier::hbf), no_block);
    bring(scheduler, 7, Tier::hbm);
    BlockId found = no_block;
    for (int i = 0; i < 20 && found == no_block; ++i) found = scheduler.spare(Tier::hbf);
    EXPECT_EQ(found, 7u);
}

TEST(Scheduler, WhatIsRememberedOfABlockWarmsTheOneInItsPlace) {
    Scheduler scheduler(small());
    for (int i = 0; i < 5; ++i) bring(scheduler, 1, Tier::hbm);
    bring(scheduler, 2, Tier::hbm);
    const auto memory = scheduler.memory(1);
    scheduler.forget(1);
    scheduler.placed(9, no_block, Tier::hbm);
    EXPECT_LT(scheduler.heat(9) - scheduler.heat(2), octave);
    scheduler.remind(9, memory);
    EXPECT_GE(scheduler.heat(9), scheduler.now());
    EXPECT_EQ(scheduler.facts(9).uses, 6u);
}

TEST(Scheduler, ByRecencyOnlyTheLastUseCounts) {
    auto config = small();
    config.recency = true;
    Scheduler scheduler(config);
    for (int i = 0; i < 50; ++i) bring(scheduler, 1, Tier::hbm);
    bring(scheduler, 2, Tier::hbm);
    EXPECT_EQ(scheduler.victim(Tier::hbm), 1u);
}

TEST(Scheduler, PinsEndWithTheirTime) {
    auto config = small();
    config.alpha = 0.5; // each request is an octave apart
    Scheduler scheduler(config);
    for (BlockId id = 0; id < 4; ++id) bring(scheduler, id, Tier::hbm);
    use(scheduler, {9});
    ASSERT_TRUE(scheduler.pin(0, 100));
    ASSERT_TRUE(scheduler.pin(1, 200));
    const auto third = scheduler.pin(2, 100);
    ASSERT_FALSE(third) << "half of the tier at most";
    EXPECT_THAT(third.error(), HasSubstr("at most 50 %"));
    ASSERT_TRUE(scheduler.pin(0, 150)) << "prolonged";
    EXPECT_EQ(scheduler.victim(Tier::hbm), 2u);
    scheduler.expire(120);
    EXPECT_EQ(scheduler.pinned(), 2u);
    scheduler.expire(150);
    EXPECT_EQ(scheduler.pinned(), 1u);
    EXPECT_EQ(scheduler.victim(Tier::hbm), 0u);
    EXPECT_EQ(scheduler.victim(Tier::hbm), 3u);
    const auto none = scheduler.victim(Tier::hbm);
    ASSERT_FALSE(none);
    EXPECT_THAT(none.error(), HasSubstr("1 blocks are pinned"));
    EXPECT_TRUE(scheduler.decide(1).pinned);
    scheduler.unpin(1);
    EXPECT_EQ(scheduler.victim(Tier::hbm), 1u);
}

TEST(Scheduler, APinHoldsInATierThatTheBlockReachesLater) {
    Scheduler scheduler(small());
    bring(scheduler, 0, Tier::hbf);
    ASSERT_TRUE(scheduler.pin(0, 100));
    bring(scheduler, 0, Tier::hbm);
    bring(scheduler, 1, Tier::hbm);
    use(scheduler, {9});
    EXPECT_EQ(scheduler.victim(Tier::hbm), 1u);
    EXPECT_FALSE(scheduler.victim(Tier::hbm));
}

TEST(Scheduler, RelevanceIsReplacedAsAWholeEveryTenQueries) {
    Scheduler scheduler(small());
    for (BlockId id = 0; id < 4; ++id) bring(scheduler, id, Tier::hbm);
    const double before = scheduler.score(0);
    const Relevance first[] = {{0, 1.0}}, second[] = {{3, 0.5}};
    scheduler.set_relevance(first);
    use(scheduler, {9});
    EXPECT_EQ(scheduler.victim(Tier::hbm), 1u) << "0 is relevant";
    EXPECT_GE(scheduler.score(0), before);
    scheduler.set_relevance(second);
    EXPECT_EQ(scheduler.facts(0).relevance, 0);
    int due = 0;
    for (int i = 1; i <= 30; ++i) {
        const bool is_due = scheduler.query();
        EXPECT_EQ(is_due, i % 10 == 0) << i;
        due += is_due;
    }
    EXPECT_EQ(due, 3);
}

TEST(Scheduler, ReusesTheNumberOfTheColdestGhost) {
    Scheduler scheduler(small());
    for (BlockId id = 0; id < 6; ++id) bring(scheduler, id, Tier::hbm); // 0 and 1 went
    EXPECT_EQ(scheduler.coldest_ghost(), 0u) << "and not one that is in HBM alone";
    scheduler.forget(0);
    EXPECT_EQ(scheduler.coldest_ghost(), 1u);
    scheduler.forget(1);
    EXPECT_EQ(scheduler.coldest_ghost(), no_block);
    EXPECT_EQ(scheduler.victim(Tier::hbm), 2u);
    EXPECT_EQ(scheduler.coldest_ghost(), 2u);
}

TEST(Scheduler, AScoreIsNeverAboveItsParents) {
    auto config = small();
    config.alpha = 0;
    config.hbm_room = 20;
    config.hbf_room = 40;
    config.most_blocks = 400;
    Scheduler scheduler(config);
    std::mt19937 random(10);
    for (int request = 0; request < 3000; ++request) {
        // A path in a binary tree, by its numbers.
        std::vector<BlockId> ids = {1};
        while (ids.size() < 8 && random() % 5 != 0) ids.push_back(ids.back() * 2 + random() % 2);
        use(scheduler, ids);
        BlockId parent = no_block;
        for (const BlockId id : ids) {
            for (const Tier tier : {Tier::hbm, Tier::hbf}) {
                if (scheduler.has(id, tier)) continue;
                if (scheduler.full(tier) && !scheduler.victim(tier)) continue;
                scheduler.placed(id, parent, tier);
            }
            parent = id;
        }
        for (size_t i = 1; i < ids.size(); ++i) {
            const double child = scheduler.score(ids[i]), above = scheduler.score(ids[i - 1]);
            ASSERT_LE(child, above) << scheduler.explain(ids[i]) << scheduler.explain(ids[i - 1]);
            ASSERT_GE(child, 0);
            ASSERT_LT(above, 1);
        }
    }
}

TEST(Scheduler, ExplainsAndDumps) {
    Scheduler scheduler(small());
    for (BlockId id = 0; id < 5; ++id) bring(scheduler, id, Tier::hbm, id > 0 ? id - 1 : no_block);
    ASSERT_TRUE(scheduler.pin(4, 77));
    const auto text = scheduler.explain(4);
    for (const char *part : {"block 4: in hbm", "score 0.", "T_hbm 0.95", "normal mode", "above what it takes to stay",
                             "pinned until 77", "stays in hbm"})
        EXPECT_THAT(text, HasSubstr(part));
    EXPECT_THAT(scheduler.explain(3), HasSubstr("in no tier (a ghost)"));
    EXPECT_THAT(scheduler.explain(100), HasSubstr("no such number; they are below 100"));
    const auto dump = scheduler.dump();
    EXPECT_THAT(dump, HasSubstr("hbm: 4 of 4 used"));
    EXPECT_THAT(dump, HasSubstr("\n4 m-- "));
    EXPECT_THAT(dump, HasSubstr("half-life 69 requests (fixed)"));
    EXPECT_LE(scheduler.metadata_bytes(), 28u * 1024 + (256u << 10)) << "a chunk, and what is there without a block";
}

} // namespace
} // namespace hbf::kv::placement
