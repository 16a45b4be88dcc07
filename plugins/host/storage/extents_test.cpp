// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "extents.hpp"

namespace hbf::host {
namespace {

TEST(Extents, NeverOverlapAndAllComesBack) {
    constexpr uint64_t begin = 1 << 20, size = 1 << 20, unit = 4096;
    Extents extents(begin, size);
    std::map<uint64_t, uint64_t> taken;
    std::mt19937_64 random(7);
    uint64_t used = 0;
    for (int round = 0; round < 20000; ++round) {
        if (random() % 2) {
            const uint64_t want = (1 + random() % 16) * unit;
            auto got = extents.take(want);
            if (!got) {
                EXPECT_LT(extents.largest_gap(), want);
                continue;
            }
            ASSERT_GE(*got, begin);
            ASSERT_LE(*got + want, begin + size);
            auto next = taken.lower_bound(*got);
            ASSERT_TRUE(next == taken.end() || *got + want <= next->first);
            ASSERT_TRUE(next == taken.begin() || std::prev(next)->first + std::prev(next)->second <= *got);
            taken[*got] = want;
            used += want;
        } else if (!taken.empty()) {
            auto entry = std::next(taken.begin(), static_cast<long>(random() % taken.size()));
            extents.give(entry->first, entry->second);
            used -= entry->second;
            taken.erase(entry);
        }
        ASSERT_EQ(extents.free_bytes(), size - used);
    }
    for (auto [at, length] : taken) extents.give(at, length);
    EXPECT_EQ(extents.largest_gap(), size) << "free neighbours did not become one";
}

TEST(Extents, FullSaysSo) {
    Extents extents(0, 8192);
    EXPECT_EQ(extents.take(8192), 0u);
    EXPECT_EQ(extents.take(4096), std::nullopt);
}

} // namespace
} // namespace hbf::host
