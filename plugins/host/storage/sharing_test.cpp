// SPDX-License-Identifier: Apache-2.0
// One tier, several users: threads with a channel each, memory that comes and goes, instances that share a directory.
#include <cstring>
#include <thread>

#include "storage_fixture.hpp"

namespace hbf::host {
namespace {

using namespace testing;

using SharingTest = StorageTest;

TEST_P(SharingTest, TwoThreadsWithAChannelEach) {
    auto tier = this->tier();
    auto shared = tier->create(4 << 20, "", false);
    auto work = [&](uint64_t seed) {
        auto channel = tier->create_channel(4);
        auto mine = tier->create(2 << 20, "", false);
        auto memory = aligned_bytes(2 << 20);
        tier->register_memory(memory.get(), 2 << 20);
        auto data = pattern(seed, 0, 2 << 20);
        for (int round = 0; round < 3; ++round) {
            std::memcpy(memory.get(), data.data(), data.size());
            EXPECT_EQ(write(*channel, *mine, 0, memory.get(), data.size()).status, HBF_OK);
            EXPECT_EQ(write(*channel, *shared, seed << 21, memory.get(), data.size()).status, HBF_OK);
            std::memset(memory.get(), 0, data.size());
            EXPECT_EQ(read(*channel, *mine, 0, memory.get(), data.size()).status, HBF_OK);
            EXPECT_EQ(std::memcmp(memory.get(), data.data(), data.size()), 0);
            EXPECT_EQ(read(*channel, *shared, seed << 21, memory.get(), data.size()).status, HBF_OK);
            EXPECT_EQ(std::memcmp(memory.get(), data.data(), data.size()), 0);
        }
        tier->unregister_memory(memory.get());
    };
    std::thread other(work, 1);
    work(0);
    other.join();
}

TEST_P(SharingTest, RegisteredMemoryMayComeAndGoWhileTheChannelLives) {
    auto tier = this->tier();
    auto channel = tier->create_channel(4);
    auto file = tier->create(1 << 20, "", false);
    std::string at_first;
    for (uint64_t round = 0; round < 100; ++round) { // more ranges than a ring has slots
        auto memory = aligned_bytes(1 << 20);
        tier->register_memory(memory.get(), 1 << 20);
        const std::string detail = describe(*tier).detail;
        if (round == 0) at_first = detail;
        ASSERT_EQ(detail, at_first) << "a slot or a page was not given back";
        auto data = pattern(round, 0, 1 << 20);
        std::memcpy(memory.get(), data.data(), data.size());
        ASSERT_EQ(write(*channel, *file, 0, memory.get(), data.size()).status, HBF_OK);
        std::memset(memory.get(), 0, data.size());
        ASSERT_EQ(read(*channel, *file, 0, memory.get(), data.size()).status, HBF_OK);
        ASSERT_EQ(std::memcmp(memory.get(), data.data(), data.size()), 0);
        tier->unregister_memory(memory.get());
    }
}

TEST_P(SharingTest, TwoInstancesOfOneProcessShareADirectory) {
    auto one = tier(), two = tier();
    auto first = one->create(4096, "a", false);
    EXPECT_EQ(failure_of([&] { two->create(4096, "a", false); }).status, HBF_INVALID);
    EXPECT_EQ(two->create(4096, "a", true), first);
}

INSTANTIATE_TEST_SUITE_P(Ways, SharingTest, storage_variants(), variant_name);

} // namespace
} // namespace hbf::host
