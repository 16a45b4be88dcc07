// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/engine/placement/large_pages.hpp"
#include "core/engine/placement/records.hpp"

namespace hbf::kv::placement {
namespace {

// KiB in large pages of the mapping that `address` lies in.
uint64_t in_large_pages(const void *address) {
    std::ifstream maps("/proc/self/smaps");
    const auto at = reinterpret_cast<uintptr_t>(address);
    bool inside = false;
    for (std::string line; std::getline(maps, line);) {
        uintptr_t begin = 0, end = 0;
        char dash = 0;
        std::istringstream words(line);
        if (words >> std::hex >> begin >> dash >> end && dash == '-') inside = begin <= at && at < end;
        if (inside && line.starts_with("AnonHugePages:")) return std::stoull(line.substr(14));
    }
    return 0;
}

uintptr_t within_a_page(const void *address) {
    return reinterpret_cast<uintptr_t>(address) % large_page;
}

TEST(LargePages, WhatIsNearlyAPageBecomesOneAndLittleComesFromTheHeap) {
    EXPECT_EQ(large_mapping(0), 0u);
    EXPECT_EQ(large_mapping(large_page / 2), 0u);
    EXPECT_EQ(large_mapping(large_page - 4096), large_page);
    EXPECT_EQ(large_mapping(large_page), large_page);
    EXPECT_EQ(large_mapping(large_page + 1), large_page + 1);
    EXPECT_EQ(large_mapping(3 * large_page - 1), 3 * large_page);
}

TEST(LargePages, TablesBeginOnOneAndKeepWhatIsWritten) {
    for (const size_t bytes : {size_t{64}, large_page - 8, large_page, 5 * large_page / 2}) {
        std::vector<uint64_t, LargePages<uint64_t>> table(bytes / 8);
        if (large_mapping(bytes) != 0) {
            EXPECT_EQ(within_a_page(table.data()), 0u);
        }
        for (size_t i = 0; i < table.size(); ++i) table[i] = i * 3;
        auto other = table;
        for (size_t i = 0; i < table.size(); ++i) ASSERT_EQ(other[i], i * 3);
    }
    std::vector<uint64_t, LargePages<uint64_t>> none;
    EXPECT_THROW(none.reserve(SIZE_MAX / 32), std::bad_alloc);
}

TEST(Records, StayWhereTheyAreAndAreNewAsNumbersCome) {
    Records records;
    EXPECT_FALSE(records.knows(0));
    records.grow_to(0);
    const auto *const first = &records[0];
    EXPECT_EQ(within_a_page(first), 0u);
    records[5].parent = 7;
    const BlockId far = 3 * Records::per_slab * Records::per_chunk + 9;
    records.grow_to(far);
    EXPECT_EQ(&records[0], first);
    EXPECT_EQ(records[5].parent, 7u);
    for (BlockId id = 6; id < records.end(); ++id) {
        ASSERT_EQ(records[id].parent, no_block);
        ASSERT_EQ(records[id].key(), Records::Record::never_here);
    }
    EXPECT_LE(records.bytes(), records.end() * (sizeof(Records::Record) + 1));
}

TEST(Records, AFullSlabIsALargePage) {
    std::vector<char, LargePages<char>> plain(large_page, 'x');
    if (in_large_pages(plain.data()) == 0) GTEST_SKIP() << "the kernel gives no large pages here";
    // As a slab is filled, by hand.
    auto *const probe = static_cast<char *>(map_large_pages(large_page, Pages::small_until_joined));
    ASSERT_NE(probe, nullptr);
    std::fill_n(probe, large_page, 'x');
    EXPECT_EQ(in_large_pages(probe), 0u);
    (void)::madvise(probe, large_page, MADV_HUGEPAGE);
    const bool can_join = ::madvise(probe, large_page, 25 /* MADV_COLLAPSE */) == 0;
    (void)::munmap(probe, large_page);
    if (!can_join) GTEST_SKIP() << "this kernel joins pages when it comes round to it";
    uint64_t joined = 0;
    for (int i = 0; i < 5 && joined == 0; ++i) { // it may say "later"
        Records records;
        records.grow_to(Records::per_slab * Records::per_chunk - 1);
        joined = in_large_pages(&records[0]);
    }
    EXPECT_GE(joined, large_page >> 10);
}

} // namespace
} // namespace hbf::kv::placement
