// SPDX-License-Identifier: Apache-2.0
// The harness counts every instance, tells whose value it read, and sees planted violations.
#include <set>

#include <gmock/gmock.h>

#include "conformance/litmus/crew.hpp"
#include "conformance/litmus/harness.hpp"
#include "conformance/litmus/shapes.hpp"
#include "conformance/litmus/testing.hpp"

namespace hbf::litmus {
namespace {

using ::testing::HasSubstr;
using testing::Memory;
using testing::two_cpus;

TEST(Placement, EveryInstanceHasWordsOfItsOwnInsideTheArena) {
    const Memory memory(1 << 19);
    Random random(7);
    for (unsigned round = 0; round < 200; ++round) {
        const Config config = draw_config(random, 2, 2, 1);
        const Placement placement(memory.arena(), config, 512);
        std::set<Word *> words;
        for (uint32_t i = 0; i < placement.instances(); ++i)
            for (unsigned location = 0; location < most_locations; ++location) {
                Word *const word = placement.word(location, i);
                ASSERT_EQ(reinterpret_cast<uintptr_t>(word) % 8, 0u) << to_string(config);
                ASSERT_GE(reinterpret_cast<std::byte *>(word), memory.bytes().data()) << to_string(config);
                ASSERT_LE(reinterpret_cast<std::byte *>(word + 1), memory.bytes().data() + memory.bytes().size())
                    << to_string(config);
                ASSERT_TRUE(words.insert(word).second) << "shared by two: " << to_string(config);
            }
    }
}

TEST(Config, IsDrawnTheSameFromTheSameSeedAndNamedByItsHash) {
    Random one(3), two(3);
    const Config first = draw_config(one, 2, 4, 2), second = draw_config(two, 2, 4, 2);
    EXPECT_EQ(to_string(first), to_string(second));
    EXPECT_EQ(hash_of(first), hash_of(second));
    EXPECT_NE(hash_of(first), hash_of(draw_config(one, 2, 4, 2)));
}

TEST(Harness, OutcomesOfEveryShapeAreThoseOfTheContract) {
    const Memory memory;
    const auto cpus = measure::allowed_cpus();
    {
        Harness harness(4, memory.arena(), 1);
        Random random(11);
        for (const ShapeTest &test : tests()) {
            const auto agents = static_cast<unsigned>(test.shape.agents.size());
            const unsigned rounds = cpus.size() < agents ? 1 : 4; // agents that cannot run together only take turns
            for (unsigned round = 0; round < rounds; ++round) {
                const Config config = draw_config(random, agents, harness.cpus(), 1);
                const Slice slice = harness.run(test.shape, config, 0.002);
                uint64_t sum = 0;
                for (const auto &[seen, count] : slice.histogram.counts) sum += count;
                EXPECT_EQ(sum, slice.histogram.instances);
                EXPECT_GE(slice.batches, 1u);
                EXPECT_EQ(slice.histogram.violations(test.shape), 0u) << test.shape.name << " " << to_string(config);
                EXPECT_TRUE(slice.dumps.empty());
            }
        }
    }
    EXPECT_EQ(measure::allowed_cpus(), cpus) << "the caller's thread keeps its CPUs";
}

// One agent alone: only what its own program says.
TEST(Harness, OneAgentSeesItsOwnStores) {
    const Memory memory;
    Harness harness(1, memory.arena(), 1);
    const Shape shape{"own", {agent<store(x, 1), load(x), load(y)>()}, {{reg(0, 0)}}};
    const Slice slice = harness.run(shape, Config{}, 0.001);
    ASSERT_EQ(slice.histogram.counts.size(), 1u);
    EXPECT_EQ(to_string(shape, slice.histogram.counts.begin()->first), "r0=1 r1=0 [x]=1 [y]=0");
}

// Mutation of the shapes themselves: run as if it were forbidden, a shape with its order turned round is found out.
TEST(Harness, PlantedViolationsAreSeenAndDumped) {
    if (!two_cpus()) GTEST_SKIP() << "agents must run together: two CPUs";
    const Memory memory;
    Harness harness(2, memory.arena(), 1);
    Random random(5);
    for (const ShapeTest &test : tests()) {
        if (test.shape.agents.size() > 2) continue;
        for (const Control &control : test.controls) {
            if (control.mutation != "order turned round" && !total_store_order)
                continue; // an emulated machine may not show it
            Shape planted = control.shape;
            planted.rule = Rule::forbidden;
            uint64_t seen = 0;
            std::vector<Dump> dumps;
            for (unsigned round = 0; round < 2000 && seen < 7; ++round) {
                const Slice slice = harness.run(planted, draw_config(random, 2, harness.cpus(), 1), 0.005);
                seen += slice.histogram.violations(planted);
                if (dumps.empty()) dumps = slice.dumps;
            }
            EXPECT_GE(seen, 7u) << planted.name;
            ASSERT_FALSE(dumps.empty()) << planted.name;
            EXPECT_FALSE(dumps[0].outcome.empty());
            EXPECT_THAT(dumps[0].config, HasSubstr("stride"));
            EXPECT_EQ(dumps[0].addresses.size(), planted.locations());
        }
    }
}

// A value of an earlier instance in the same place is told apart from one that nobody ever stored.
TEST(Harness, MemoryThatForgetsIsFoundInAnyShape) {
    if (!two_cpus()) GTEST_SKIP() << "the spoiler must run beside the agents: two CPUs";
    for (const char *name : {"CoRR", "MP.rel.acq", "SB.sc", "LB.acq.rel", "2+2W.sc"}) {
        const Memory memory(3 * 65536);
        Harness harness(2, memory.arena(), 1);
        const Shape &shape = test_of(name).shape;
        Config config;
        config.stride = 64;
        Histogram histogram;
        const testing::StaleWriter writer(memory.bytes());
        for (unsigned round = 0; round < 2000 && histogram.impossible() < 3; ++round)
            histogram.add(harness.run(shape, config, 0.002).histogram);
        EXPECT_GE(histogram.impossible(), 3u) << name;
        EXPECT_GE(histogram.violations(shape), histogram.impossible());
    }
}

TEST(Threads, EveryMemberRunsOnceACallAndIsWaitedFor) {
    Threads threads(3);
    std::atomic<unsigned> sum{0};
    for (unsigned round = 0; round < 200; ++round) threads.run(3, [&](unsigned member) { sum += 1u << (8 * member); });
    EXPECT_EQ(sum.load(), 200u | 200u << 8 | 200u << 16);
    threads.run(1, [&](unsigned member) { EXPECT_EQ(member, 0u); });
}

TEST(MeetingPoint, TimeRunsOutForWhoeverWaitsAlone) {
    MeetingPoint point;
    point.open(2, Clock::now());
    EXPECT_FALSE(point.meet(0, 1)) << "nobody came";
    point.open(2, Clock::now() + std::chrono::seconds(60));
    std::thread other([&] { EXPECT_TRUE(point.meet(1, 1)); });
    EXPECT_TRUE(point.meet(0, 1));
    other.join();
}

} // namespace
} // namespace hbf::litmus
