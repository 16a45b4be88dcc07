// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "conformance/litmus/atomicity.hpp"
#include "conformance/litmus/testing.hpp"

namespace hbf::litmus {
namespace {

using testing::Memory;

TEST(Adding, NothingIsLostAtomically) {
    const Memory memory(1 << 16);
    Threads threads(3);
    Tally sum;
    for (uint64_t seed = 0; seed < 4; ++seed) sum.add(run_adding(threads, 3, memory.bytes(), Access::atomic, 0.005, seed));
    EXPECT_GT(sum.trials, 0u);
    EXPECT_EQ(sum.bad, 0u);
}

TEST(Tearing, NoWordIsSeenHalfWrittenAtomically) {
    const Memory memory(1 << 16);
    Threads threads(2);
    Tally sum;
    for (uint64_t seed = 0; seed < 4; ++seed) sum.add(run_tearing(threads, memory.bytes(), Access::atomic, 0.005, seed));
    EXPECT_GT(sum.trials, 0u);
    EXPECT_EQ(sum.bad, 0u);
}

TEST(Adding, SplitAdditionsAreLost) {
    if (!testing::two_cpus()) GTEST_SKIP() << "threads must run together: two CPUs";
    const Memory memory(1 << 16);
    Threads threads(2);
    Tally sum;
    for (uint64_t seed = 0; seed < 2000 && sum.bad < 7; ++seed)
        sum.add(run_adding(threads, 2, memory.bytes(), Access::split, 0.005, seed));
    EXPECT_GE(sum.bad, 7u);
    EXPECT_NE(sum.expected, sum.actual);
    EXPECT_NE(sum.address, 0u);
}

TEST(Tearing, SplitStoresAreSeenTorn) {
    if (!testing::two_cpus()) GTEST_SKIP() << "threads must run together: two CPUs";
    const Memory memory(1 << 16);
    Threads threads(2);
    Tally sum;
    for (uint64_t seed = 0; seed < 2000 && sum.bad < 7; ++seed)
        sum.add(run_tearing(threads, memory.bytes(), Access::split, 0.005, seed));
    EXPECT_GE(sum.bad, 7u);
    EXPECT_NE(sum.expected, sum.actual);
}

} // namespace
} // namespace hbf::litmus
