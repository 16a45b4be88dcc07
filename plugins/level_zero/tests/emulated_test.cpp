// SPDX-License-Identifier: Apache-2.0
// An opened device: the order of a queue's values on lists that have none, its events, its regions.
#include <algorithm>
#include <cstring>

#include "plugins/level_zero/tests/scene.hpp"

namespace hbf::level_zero {
namespace {

class Emulated : public UnderTheLoader {};

TEST_F(Emulated, AnotherMachinesInventoryHasNoDevice) {
    EXPECT_THROW((void)survey("/nonexistent-root-of-a-test"), sdk::Failure);
    EXPECT_EQ(survey("").devices.size(), 2u);
}

// A large write and then a small one to its end, both from pinned memory: what overtakes on an immediate list. And back by
// the other engine, through a copy inside the device.
TEST_F(Emulated, ValuesAreInOrderOverListsThatAreNot) {
    Device device;
    constexpr uint64_t size = 1 << 20, small = 4096;
    const hbf_region_info from = device.alloc(1, size), late = device.alloc(1, small), back = device.alloc(1, size),
                          first = device.alloc(0, size), second = device.alloc(0, size);
    const std::unique_ptr<sdk::Queue> queue = device.queue();
    for (unsigned round = 1; round <= 40; ++round) {
        std::memset(from.address, static_cast<int>(round), size);
        std::memset(late.address, static_cast<int>(round + 100), small);
        submit(*queue, {copy(first, 0, from, 0, size)});
        submit(*queue, {copy(first, size - small, late, 0, small)});
        submit(*queue, {copy(second, 0, first, 0, size)});
        const uint64_t last = submit(*queue, {copy(back, 0, second, 0, size)});
        ASSERT_TRUE(queue->wait(last, UINT64_MAX));
        ASSERT_EQ(queue->poll().failed, 0u);
        ASSERT_EQ(std::memcmp(back.address, from.address, size - small), 0) << "round " << round;
        const auto *const end = static_cast<const std::byte *>(back.address) + size - small;
        ASSERT_EQ(std::memcmp(end, late.address, small), 0) << "round " << round;
    }
}

// Far more barriers in one batch than the queue has events, all appended before the first copy is over.
TEST_F(Emulated, ABatchOfManyBarriersIsOverWhenItsLastCommandIs) {
    Device device;
    constexpr uint64_t size = 4 << 20;
    const hbf_region_info from = device.alloc(1, size), back = device.alloc(1, size), first = device.alloc(0, size),
                          second = device.alloc(0, size), last = device.alloc(0, size);
    sdk::QueueRequest request;
    request.depth = 1;
    const std::unique_ptr<sdk::Queue> queue = device.opened->create_queue(request);
    hbf_command barrier{};
    barrier.kind = HBF_COMMAND_WAIT;
    for (unsigned round = 1; round <= 5; ++round) {
        std::memset(from.address, static_cast<int>(round), size);
        std::vector<hbf_command> commands = {copy(first, 0, from, 0, size), barrier};
        for (unsigned i = 0; i < 16; ++i) {
            commands.push_back(copy(second, 0, first, 0, size));
            commands.push_back(barrier);
        }
        commands.insert(commands.end(), {copy(last, 0, second, 0, size), barrier, copy(back, 0, last, 0, size)});
        ASSERT_TRUE(queue->wait(submit(*queue, commands), UINT64_MAX));
        ASSERT_EQ(queue->poll().failed, 0u);
        ASSERT_EQ(std::memcmp(back.address, from.address, size), 0) << "round " << round;
    }
}

TEST_F(Emulated, AQueueTakesMoreValuesThanItHasEvents) {
    Device device;
    constexpr uint64_t size = 65536;
    const hbf_region_info from = device.alloc(1, size), to = device.alloc(0, size);
    sdk::QueueRequest request;
    request.depth = 8;
    const auto make = [&] { return device.opened->create_queue(request); };
    const std::unique_ptr<sdk::Queue> one = make(), other = make();
    for (unsigned round = 0; round < 100; ++round) { // many more than it has
        const uint64_t last = submit(*one, {copy(to, 0, from, 0, size)});
        ASSERT_TRUE(one->wait(last, UINT64_MAX));
        ASSERT_TRUE(other->wait(submit(*other, {copy(from, 0, to, 0, size)}), UINT64_MAX));
    }
    EXPECT_TRUE(one->idle() && other->idle());
}

TEST_F(Emulated, RegionsAreZeroAndRefusedWithTheirReason) {
    Device device;
    const hbf_region_info pinned = device.alloc(1, 4096);
    EXPECT_EQ(std::count(static_cast<char *>(pinned.address), static_cast<char *>(pinned.address) + 4096, 0), 4096);
    sdk::AllocRequest pages;
    pages.size = 4096;
    pages.pages = HBF_PAGES_1G;
    EXPECT_THROW(device.opened->alloc(pages), sdk::Failure);
    sdk::AllocRequest huge;
    huge.size = uint64_t{1} << 50;
    EXPECT_THROW(device.opened->alloc(huge), sdk::Failure);
    EXPECT_THROW((void)parse_options({{"devize", "0"}}), sdk::Failure);
}

} // namespace
} // namespace hbf::level_zero
