// SPDX-License-Identifier: Apache-2.0
#include <random>
#include <unordered_map>

#include <gtest/gtest.h>

#include "core/engine/placement/directory.hpp"

namespace hbf::kv::placement {
namespace {

TEST(Directory, AgreesWithAMap) {
    std::mt19937_64 random(4);
    for (const size_t most : {1u, 3u, 100u, 5000u}) {
        Directory directory(most);
        std::unordered_map<uint64_t, BlockId> expected;
        for (int step = 0; step < 60'000; ++step) {
            const uint64_t fingerprint = random() % (2 * most) * 0x1'0000'0001u; // many share their low bits
            if (random() % 2 == 0 && !expected.contains(fingerprint)) {
                const auto id = static_cast<BlockId>(step);
                ASSERT_EQ(directory.insert(fingerprint, id), expected.size() < most);
                if (expected.size() < most) expected[fingerprint] = id;
            } else if (random() % 2 == 0) {
                directory.erase(fingerprint);
                expected.erase(fingerprint);
            }
            const auto found = expected.find(fingerprint);
            ASSERT_EQ(directory.find(fingerprint), found == expected.end() ? no_block : found->second);
            ASSERT_EQ(directory.size(), expected.size());
        }
        for (const auto &[fingerprint, id] : expected) ASSERT_EQ(directory.find(fingerprint), id);
    }
}

TEST(Directory, OfNoRoomTakesNone) {
    Directory directory(0);
    EXPECT_FALSE(directory.insert(1, 1));
    EXPECT_EQ(directory.find(1), no_block);
}

} // namespace
} // namespace hbf::kv::placement
