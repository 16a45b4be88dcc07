// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "core/engine/migration/epochs.hpp"

namespace hbf::kv {
namespace {

TEST(Epochs, PassWhenEveryReaderBeganLater) {
    Epochs epochs;
    Epochs::Reader &a = epochs.take(), &b = epochs.take();
    const uint64_t nobody = epochs.retire();
    EXPECT_TRUE(epochs.passed(nobody));
    a.enter();
    const uint64_t seen_by_a = epochs.retire();
    EXPECT_FALSE(epochs.passed(seen_by_a));
    b.enter(); // later: cannot have seen it
    a.leave();
    EXPECT_TRUE(epochs.passed(seen_by_a));
    const uint64_t seen_by_b = epochs.retire();
    EXPECT_FALSE(epochs.passed(seen_by_b));
    EXPECT_TRUE(epochs.passed(seen_by_a));
    b.leave();
    EXPECT_TRUE(epochs.passed(seen_by_b));
}

TEST(Epochs, HaveAPlaceForEveryReader) {
    Epochs epochs;
    std::set<Epochs::Reader *> places;
    for (int i = 0; i < 96; ++i) places.insert(&epochs.take());
    EXPECT_EQ(places.size(), 96u);
    Epochs::Reader *const one = *places.begin();
    Epochs::give_back(*one);
    EXPECT_EQ(&epochs.take(), one);
    (*places.rbegin())->enter();
    EXPECT_FALSE(epochs.passed(epochs.retire())) << "of a later chunk too";
    (*places.rbegin())->leave();
}

// What a reader sees between enter and leave is what was published, never what was freed and written again.
TEST(Epochs, NoReaderSeesWhatWasFreed) {
    constexpr int cells = 64, readers = 3, rounds = 20000;
    Epochs epochs;
    std::vector<uint64_t> memory(cells * 8, 0);
    std::atomic<uint64_t> place{0};
    std::atomic<bool> done{false};
    std::vector<std::thread> threads;
    for (int r = 0; r < readers; ++r)
        threads.emplace_back([&] {
            Epochs::Reader &mine = epochs.take();
            while (!done.load(std::memory_order_relaxed)) {
                const Reading reading(mine);
                const uint64_t at = place.load() * 8, first = memory[at];
                for (int i = 1; i < 8; ++i) ASSERT_EQ(memory[at + i], first) << "torn";
            }
            Epochs::give_back(mine);
        });
    std::vector<uint64_t> free;
    for (uint64_t i = 1; i < cells; ++i) free.push_back(i);
    std::vector<std::pair<uint64_t, uint64_t>> retired; // cell, epoch
    for (uint64_t round = 1; round <= rounds; ++round) {
        while (free.empty()) {
            std::erase_if(retired, [&](const auto &one) {
                if (!epochs.passed(one.second)) return false;
                free.push_back(one.first);
                return true;
            });
            if (free.empty()) std::this_thread::yield();
        }
        const uint64_t cell = free.back();
        free.pop_back();
        for (int i = 0; i < 8; ++i) memory[cell * 8 + i] = round;
        const uint64_t old = place.exchange(cell);
        retired.push_back({old, epochs.retire()});
    }
    done = true;
    for (std::thread &thread : threads) thread.join();
}

} // namespace
} // namespace hbf::kv
