// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <gtest/gtest.h>

#include "core/engine/migration/transfers.hpp"

namespace hbf::kv {
namespace {

using namespace std::chrono_literals;
using Clock = Transfers::Clock;

TEST(Transfers, LoadsGoBeforeStores) {
    std::vector<BlockId> order;
    Transfers transfers([&](const Transfers::Transfer &one) { return order.push_back(one.block), true; }, 8);
    const auto later = Clock::now() + 1h;
    transfers.add(1, Tier::hbf, false, later);
    transfers.add(2, Tier::hbf, false, later);
    transfers.add(3, Tier::hbm, true, later);
    transfers.add(4, Tier::hbm, true, later);
    while (transfers.run_one()) {
    }
    EXPECT_EQ(order, (std::vector<BlockId>{3, 4, 1, 2}));
    EXPECT_EQ(transfers.counts().done, 4u);
}

TEST(Transfers, ExpireAreCancelledOrRefused) {
    int done = 0;
    Transfers transfers([&](const Transfers::Transfer &) { return ++done, false; }, 3);
    const auto later = Clock::now() + 1h;
    transfers.add(1, Tier::hbf, false, Clock::now() - 1s);
    const uint64_t second = transfers.add(2, Tier::hbf, false, later), third = transfers.add(3, Tier::hbm, true, later);
    EXPECT_EQ(transfers.add(4, Tier::hbm, true, later), 0u) << "three may wait";
    EXPECT_TRUE(transfers.cancel(second));
    EXPECT_FALSE(transfers.cancel(second));
    EXPECT_TRUE(transfers.run_one());
    EXPECT_FALSE(transfers.cancel(third)) << "it was done";
    EXPECT_FALSE(transfers.run_one()) << "the first came too late";
    const auto counts = transfers.counts();
    EXPECT_EQ(done, 1);
    EXPECT_EQ(counts.failed, 1u);
    EXPECT_EQ(counts.expired, 1u);
    EXPECT_EQ(counts.cancelled, 1u);
    EXPECT_EQ(counts.refused, 1u);
}

TEST(Transfers, AThreadDoesThemAndStopsWithThem) {
    std::atomic<int> done{0};
    Transfers transfers([&](const Transfers::Transfer &) { return ++done, true; }, 1000);
    transfers.start();
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t)
        threads.emplace_back([&] {
            for (BlockId i = 0; i < 200; ++i)
                if (const uint64_t ticket = transfers.add(i, Tier::hbf, i % 2 == 0, Clock::now() + 1h); i % 7 == 0)
                    transfers.cancel(ticket);
        });
    for (std::thread &thread : threads) thread.join();
    transfers.wait_idle();
    const auto counts = transfers.counts();
    EXPECT_EQ(counts.done, static_cast<uint64_t>(done.load()));
    EXPECT_EQ(counts.done + counts.cancelled, 600u);
    transfers.stop();
    EXPECT_EQ(transfers.add(1, Tier::hbm, true, Clock::now() + 1h), 0u) << "nobody would do it";
}

} // namespace
} // namespace hbf::kv
