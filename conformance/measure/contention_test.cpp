// SPDX-License-Identifier: Apache-2.0
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "conformance/measure/contention.hpp"
#include "conformance/measure/placement.hpp"

namespace hbf::measure {
namespace {

namespace fs = std::filesystem;

CpuUse use(double busy, double steal, double total, double own, uint64_t switches = 0) {
    return {busy, steal, total, own, switches};
}

TEST(Contention, OwnWorkIsNotForeign) {
    auto c = contention_between(use(0, 0, 0, 0), use(1.9, 0, 2, 1.88));
    EXPECT_FALSE(c.contended);
    EXPECT_NEAR(c.foreign, 0.01, 1e-9);
}

TEST(Contention, ForeignWorkAndStolenTimeAreSeen) {
    auto busy = contention_between(use(0, 0, 0, 0, 5), use(1.9, 0, 2, 0.9, 47));
    EXPECT_TRUE(busy.contended);
    EXPECT_NEAR(busy.foreign, 0.5, 1e-9);
    EXPECT_EQ(busy.involuntary_switches, 42u);
    EXPECT_TRUE(contention_between(use(0, 0, 0, 0), use(1, 0.05, 2, 1)).contended);
}

TEST(Contention, ASingleTickIsNoEvidence) {
    // 50 ms on two CPUs are ten ticks: one of them is 10 %, and yet noise.
    EXPECT_FALSE(contention_between(use(0, 0, 0, 0), use(0.06, 0, 0.1, 0.05)).contended);
    EXPECT_FALSE(contention_between(use(0, 0, 0, 0), use(0.05, 0.01, 0.1, 0.05)).contended);
    EXPECT_FALSE(contention_between(use(1, 1, 1, 1), use(1, 1, 1, 1)).contended); // no time passed
}

TEST(Contention, ReadsTheKernelsTable) {
    auto root = fs::temp_directory_path() / ("hbf-measure-" + std::to_string(getpid()));
    fs::create_directories(root / "proc");
    EXPECT_FALSE(read_cpu_use(root));
    std::ofstream(root / "proc/stat") << "cpu  100 10 40 800 20 5 5 30 7 0\ncpu0 1 1 1 1\n";
    auto use = read_cpu_use(root);
    ASSERT_TRUE(use);
    const double tick = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
    EXPECT_NEAR(use->busy, 160 * tick, 1e-9); // guest time (7) is in user time already
    EXPECT_NEAR(use->steal, 30 * tick, 1e-9);
    EXPECT_NEAR(use->total, 1010 * tick, 1e-9);
    std::ofstream(root / "proc/stat") << "garbage";
    EXPECT_FALSE(read_cpu_use(root));
    fs::remove_all(root);
}

TEST(Placement, BindsAndSaysWhere) {
    const auto home = allowed_cpus();
    ASSERT_FALSE(home.empty());
    ASSERT_TRUE(bind_thread({home.back()}));
    EXPECT_EQ(current_place().cpu, home.back());
    EXPECT_FALSE(bind_thread({}));
    EXPECT_TRUE(bind_thread(home));
    EXPECT_EQ(allowed_cpus(), home);
}

TEST(Placement, KnowsTouchedFromUntouchedPages) {
    std::vector<std::byte> touched(1 << 20, std::byte{1});
    auto places = page_places(touched.data(), touched.size());
    if (!places.error.empty()) GTEST_SKIP() << places.error; // a container may forbid the call
    size_t known = 0;
    for (auto [node, count] : places.pages) known += node >= 0 ? count : 0;
    EXPECT_GT(known, 200u);
}

} // namespace
} // namespace hbf::measure
