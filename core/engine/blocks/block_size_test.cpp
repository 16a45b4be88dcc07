// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "core/engine/blocks/block_size.hpp"
#include "core/engine/blocks/block_table.hpp"
#include "core/engine/blocks/id_table.hpp"

namespace hbf::kv {
namespace {

TEST(BlockSize, GrowsWithEntropyWithinItsLimits) {
    EXPECT_EQ(block_size(32, 16, 0, 2.0), 32u) << "all attention on one token";
    EXPECT_EQ(block_size(32, 16, 2.0, 2.0), 64u) << "ceil(32 * 2)";
    EXPECT_EQ(block_size(32, 16, 1.0, 3.0), 48u) << "ceil(42.7), up to a multiple of 16";
    EXPECT_EQ(block_size(16, 16, 0.1, 2.0), 32u) << "17 is above 16";
    EXPECT_EQ(block_size(32, 16, 1e9, 1.0), 256u);
    EXPECT_EQ(block_size(256, 48, 5, 5), 240u) << "the largest multiple of 48";
    for (const double odd : {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
        EXPECT_EQ(block_size(32, 16, odd, 1), 32u) << odd;
    EXPECT_EQ(block_size(32, 16, 1, 0), 32u) << "no average yet";
}

TEST(BlockSize, ChangesStepByStep) {
    uint32_t size = 32, steps = 0;
    for (; size != 256; ++steps) {
        const uint32_t next = next_size(size, 256, 16);
        ASSERT_LE(next - size, 16u);
        size = next;
    }
    EXPECT_EQ(steps, 14u);
    for (; size != 16; ++steps) {
        const uint32_t next = next_size(size, 16, 16);
        ASSERT_LT(next, size);
        size = next;
    }
    EXPECT_EQ(next_size(64, 64, 16), 64u);
}

TEST(BlockPlace, KeepsItsPartsApart) {
    const BlockPlace place(0xffffff, Tier::cold, (uint64_t{1} << 38) - 1);
    EXPECT_TRUE(place.somewhere());
    EXPECT_EQ(place.tier(), Tier::cold);
    EXPECT_EQ(place.granule(), (uint64_t{1} << 38) - 1);
    EXPECT_EQ(place.generation(), 0xffffffu);
    EXPECT_EQ(place.next_generation(), 0u);
    EXPECT_FALSE(BlockPlace().somewhere());
    EXPECT_FALSE(BlockPlace::nowhere(7).somewhere());
    EXPECT_EQ(BlockPlace::nowhere(7).generation(), 7u);
}

TEST(BlockTable, NumbersAreUsedAgainAndRecordsStay) {
    BlockTable table;
    const BlockId first = table.take();
    BlockRecord *const record = &table[first];
    for (uint32_t i = 0; i < 3 * BlockTable::per_chunk; ++i) table.take();
    EXPECT_EQ(&table[first], record);
    EXPECT_EQ(table.find(first), record);
    EXPECT_EQ(table.find(no_block), nullptr);
    EXPECT_EQ(table.find(1u << 30), nullptr);
    record->sealed = true;
    table.give_back(first);
    EXPECT_EQ(table.find(first), nullptr);
    EXPECT_EQ(table.take(), first);
    EXPECT_FALSE(table[first].sealed);
    EXPECT_EQ(table.size(), 3u * BlockTable::per_chunk + 1);
}

TEST(IdTable, DoesWhatASetDoes) { // over growth, and with many that were erased
    std::mt19937 random(7);
    std::set<BlockId> model;
    IdTable table;
    const auto hash = [](BlockId block) { return uint64_t{block} % 61; }; // many collide
    for (int i = 0; i < 40000; ++i) {
        const BlockId block = random() % 500;
        if (model.contains(block)) {
            table.erase(block, hash);
            model.erase(block);
        } else {
            table.insert(block, hash);
            model.insert(block);
        }
        const BlockId asked = random() % 500;
        ASSERT_EQ(table.find(hash(asked), [&](BlockId one) { return one == asked; }) == asked, model.contains(asked));
    }
    EXPECT_EQ(table.size(), model.size());
    EXPECT_LE(table.metadata_bytes(), 64u * 1024);
}

} // namespace
} // namespace hbf::kv
