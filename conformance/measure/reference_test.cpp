// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "conformance/measure/clock.hpp"
#include "conformance/measure/placement.hpp"
#include "conformance/measure/reference.hpp"
#include "kernels/host/pattern.hpp"

namespace hbf::measure {
namespace {

TEST(Reference, EveryThreadCountCopiesEveryByte) {
    constexpr uint64_t size = 1'000'004; // no multiple of the pieces or the threads
    std::vector<std::byte> src(size), dst(size);
    const kernels::PatternKey key{1, 1, false};
    kernels::pattern_fill(src.data(), size, key, 0);
    auto cpus = allowed_cpus();
    cpus.resize(3, cpus.front()); // more threads than this machine may have CPUs
    ReferenceTeam team(cpus);
    EXPECT_EQ(team.size(), 3u);
    for (size_t threads = 1; threads <= 3; ++threads) {
        for (auto kind : {ReferenceCopy::libc_memcpy, ReferenceCopy::streaming}) {
            std::fill(dst.begin(), dst.end(), std::byte{0});
            EXPECT_GT(team.run(kind, threads, dst.data(), src.data(), size, 65536), 0);
            EXPECT_EQ(kernels::pattern_verify(dst.data(), size, key, 0).wrong_words, 0u) << threads << to_string(kind);
        }
    }
}

TEST(Reference, TakesAtMostTheTeam) {
    std::vector<std::byte> src(4096), dst(4096);
    ReferenceTeam team(allowed_cpus());
    EXPECT_GT(team.run(ReferenceCopy::libc_memcpy, 1000, dst.data(), src.data(), 4096, 64), 0);
}

TEST(Reference, PassesTakeTheTimeOfThatManyCopies) {
    std::vector<std::byte> src(1 << 20), dst(1 << 20);
    ReferenceTeam team(allowed_cpus());
    // Beside other tests a run takes longer than it has to: the least of many is what it takes.
    double one = 1, many = 1;
    for (int i = 0; i < 2000 && (i < 20 || many <= 10 * one); ++i) {
        const auto run = [&](uint32_t passes) {
            return team.run(ReferenceCopy::libc_memcpy, 1, dst.data(), src.data(), src.size(), 65536, passes);
        };
        one = std::min(one, run(1));
        if (i < 20) many = std::min(many, run(50));
    }
    EXPECT_GT(many, 10 * one);
}

TEST(ClockStep, IsSmall) {
    EXPECT_LT(clock_step(), 1e-3);
}

} // namespace
} // namespace hbf::measure
