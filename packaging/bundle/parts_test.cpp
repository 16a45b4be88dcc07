// SPDX-License-Identifier: Apache-2.0
// What the bundle has in place of libraries that it cannot carry answers as those libraries do.
#include <gtest/gtest.h>
#include <hwy/targets.h>
#include <numa.h>
#include <sched.h>

#include "highway_targets.hpp"
#include "numa_nodes.hpp"

namespace {

TEST(BundleParts, InstructionSetsAreThoseOfHighway) {
    constexpr int64_t asked = HWY_SSSE3 | HWY_SSE4 | HWY_AVX2 | HWY_AVX3 | HWY_AVX3_DL; // by kernels/host
    EXPECT_EQ(hbf::bundle::supported_targets() & asked, hwy::SupportedTargets() & asked);
}

TEST(BundleParts, NodesOfCpusAreThoseOfLibnuma) {
    if (numa_available() < 0) GTEST_SKIP() << "this kernel has no NUMA support";
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) EXPECT_EQ(hbf::bundle::node_of_cpu(cpu), numa_node_of_cpu(cpu)) << cpu;
}

} // namespace
