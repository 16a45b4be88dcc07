// SPDX-License-Identifier: Apache-2.0
// Faults that leave wrong bytes: each does what its line says, and no more.
#include <bit>

#include <gtest/gtest.h>

#include "conformance/inject/wrapped_test.hpp"

namespace hbf::inject::testing {
namespace {

// Offsets at which the destination differs from the source, after one copy of `size` from 64 on to 64 on.
struct Copied {
    explicit Copied(const std::string &fault, uint64_t size = 1000, unsigned times = 1) : device(fault) {
        src = device.alloc(4096), dst = device.alloc(4096);
        count_up(src);
        hbf_queue *queue = device.make_queue();
        for (unsigned i = 0; i < times; ++i) {
            std::fill_n(bytes(dst), 4096, 0xee);
            EXPECT_EQ(device.run(queue, {copy(dst, 64, src, 64, size)}).status, HBF_OK);
            std::vector<uint64_t> wrong;
            for (uint64_t at = 0; at < 4096; ++at) {
                const bool inside = at >= 64 && at < 64 + size;
                if (bytes(dst)[at] != (inside ? bytes(src)[at] : 0xee)) wrong.push_back(at);
            }
            wrong_offsets.push_back(wrong);
        }
    }
    Wrapped device;
    hbf_region_info src, dst;
    std::vector<std::vector<uint64_t>> wrong_offsets; // by round
};

TEST(Data, WithoutAFaultEveryByteArrives) {
    EXPECT_TRUE(Copied("").wrong_offsets[0].empty());
}

TEST(Data, FlipChangesOneBit) {
    Copied copied("flip,bit=13");
    ASSERT_EQ(copied.wrong_offsets[0], std::vector<uint64_t>{65});
    EXPECT_EQ(bytes(copied.dst)[65] ^ bytes(copied.src)[65], 1 << 5);
    Copied drawn("flip");
    ASSERT_EQ(drawn.wrong_offsets[0].size(), 1u);
    EXPECT_EQ(std::popcount(static_cast<unsigned>(bytes(drawn.dst)[drawn.wrong_offsets[0][0]] ^
                                                  bytes(drawn.src)[drawn.wrong_offsets[0][0]])),
              1);
}

TEST(Data, FlipIsDeterministicBySeed) {
    EXPECT_EQ(Copied("flip,seed=7").wrong_offsets, Copied("flip,seed=7").wrong_offsets);
    EXPECT_NE(Copied("flip,seed=7").wrong_offsets, Copied("flip,seed=8").wrong_offsets);
}

TEST(Data, FlipWithProbabilityPerBit) {
    EXPECT_EQ(Copied("flip,p=1").wrong_offsets[0].size(), 1000u);
    EXPECT_TRUE(Copied("flip,p=1e-12").wrong_offsets[0].empty());
    const size_t wrong = Copied("flip,p=0.01").wrong_offsets[0].size(); // 80 bits of 8000
    EXPECT_GT(wrong, 40u);
    EXPECT_LT(wrong, 120u);
}

TEST(Data, AfterRateAndCountChooseTheEvents) {
    const auto hits = [](const std::string &fault) {
        std::string picture;
        for (const auto &round : Copied(fault, 1000, 8).wrong_offsets) picture += round.empty() ? '.' : 'x';
        return picture;
    };
    EXPECT_EQ(hits("flip"), "xxxxxxxx");
    EXPECT_EQ(hits("flip,after=3"), "...xxxxx");
    EXPECT_EQ(hits("flip,rate=3"), "x..x..x.");
    EXPECT_EQ(hits("flip,after=2,rate=2,count=2"), "..x.x...");
}

TEST(Data, DropTailLeavesTheLastBytes) {
    EXPECT_EQ(Copied("drop-tail").wrong_offsets[0], std::vector<uint64_t>{1063});
    EXPECT_EQ(Copied("drop_tail,bytes=3").wrong_offsets[0], (std::vector<uint64_t>{1061, 1062, 1063}));
    EXPECT_EQ(Copied("drop-tail,bytes=3", 2).wrong_offsets[0], (std::vector<uint64_t>{64, 65}));
}

} // namespace
} // namespace hbf::inject::testing
