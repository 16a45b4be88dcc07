// SPDX-License-Identifier: Apache-2.0
// Which tiers other machines would have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/host/machine_fixture.hpp"
#include "hbf/sdk/failure.hpp"
#include "memory/memory_tier.hpp"

using namespace hbf::host;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

constexpr uint64_t gib = uint64_t{1} << 30;

hbf_tier_info info_of(const MemoryTier &tier) {
    hbf_tier_info info{};
    info.struct_size = sizeof info;
    tier.describe(info);
    return info;
}

class DiscoveryTest : public testing::Test {
protected:
    std::vector<hbf_tier_info> discover(uint64_t dram_bytes = 0, uint64_t hbf_bytes = 0) {
        MemoryOptions options;
        options.system_root = machine.root();
        options.dram_bytes = dram_bytes;
        options.hbf_bytes = hbf_bytes;
        tiers = discover_memory_tiers(options, hbf::sdk::Log());
        std::vector<hbf_tier_info> infos;
        for (const auto &tier : tiers) infos.push_back(info_of(*tier));
        return infos;
    }
    static std::vector<std::string> names(const std::vector<hbf_tier_info> &infos) {
        std::vector<std::string> out;
        for (const auto &info : infos) out.emplace_back(info.name);
        return out;
    }
    hbf::test::FakeMachine machine;
    std::vector<std::unique_ptr<MemoryTier>> tiers;
};

TEST_F(DiscoveryTest, TwoSocketsWithCxl) {
    machine.two_sockets_with_cxl();
    const auto infos = discover();
    ASSERT_THAT(names(infos), ElementsAre("dram0", "dram1", "hbf2"));
    EXPECT_EQ(infos[0].kind, HBF_TIER_HBM);
    EXPECT_EQ(infos[0].media, HBF_MEDIA_DRAM);
    EXPECT_EQ(infos[1].numa_node, 1);
    EXPECT_EQ(infos[1].nominal_bandwidth, 153600000000u);
    EXPECT_EQ(infos[2].kind, HBF_TIER_HBF);
    EXPECT_EQ(infos[2].media, HBF_MEDIA_CXL);
    EXPECT_EQ(infos[2].nominal_latency_ns, 290u);
    EXPECT_THAT(infos[2].detail, HasSubstr("CXL memory: NUMA node 2"));
    EXPECT_EQ(infos[0].access, HBF_ACCESS_CPU | HBF_ACCESS_DMA);
    EXPECT_GE(infos[0].line_size, 16u);
    uint64_t sum = 0;
    for (const auto &info : infos) {
        EXPECT_GT(info.capacity, 20 * gib) << info.name;
        sum += info.capacity;
    }
    EXPECT_LE(sum, 192 * gib) << "no more than the machine has available";
}

TEST_F(DiscoveryTest, FarMemoryThatIsNoCxl) {
    machine.two_sockets_with_cxl().remove("sys/bus/dax").remove("sys/bus/cxl");
    const auto infos = discover();
    ASSERT_THAT(names(infos), ElementsAre("dram0", "dram1", "hbf2"));
    EXPECT_EQ(infos[2].media, HBF_MEDIA_DRAM);
    EXPECT_THAT(infos[2].detail, HasSubstr("far memory"));
}

TEST_F(DiscoveryTest, OnPackageMemoryIsNear) {
    machine.two_sockets_with_cxl().remove("sys/bus/dax").remove("sys/bus/cxl");
    machine.node({2, "", 67108864, 67000000, "13 23 10", 800000, 120});
    const auto infos = discover();
    ASSERT_THAT(names(infos), ElementsAre("hbm2", "dram0", "dram1", "hbf0"));
    EXPECT_EQ(infos[0].media, HBF_MEDIA_HBM);
    EXPECT_EQ(infos[0].kind, HBF_TIER_HBM);
}

TEST_F(DiscoveryTest, WithoutFarMemoryAPoolStandsInOnTheFarthestNode) {
    machine.two_sockets_with_cxl().remove("sys/devices/system/node/node2");
    const auto infos = discover();
    ASSERT_THAT(names(infos), ElementsAre("dram0", "dram1", "hbf0"));
    EXPECT_EQ(infos[2].kind, HBF_TIER_HBF);
    EXPECT_EQ(infos[2].media, HBF_MEDIA_DRAM);
    EXPECT_EQ(infos[2].numa_node, 1);
    EXPECT_THAT(infos[2].detail, HasSubstr("stands in"));
    EXPECT_LE(infos[0].capacity + infos[1].capacity + infos[2].capacity, 190 * gib);
}

TEST_F(DiscoveryTest, WithoutNuma) {
    machine.basics();
    const auto infos = discover();
    ASSERT_THAT(names(infos), ElementsAre("dram0", "hbf0"));
    EXPECT_EQ(infos[0].numa_node, -1);
    EXPECT_EQ(infos[0].flags, 0u);
    EXPECT_EQ(infos[1].capacity, 190 * gib / 4);
    EXPECT_EQ(infos[0].capacity, 190 * gib - 190 * gib / 4);
}

TEST_F(DiscoveryTest, OptionsSetTheBudgets) {
    machine.two_sockets_with_cxl();
    const auto infos = discover(8 * gib, 3 * gib);
    EXPECT_EQ(infos[0].capacity, 4 * gib);
    EXPECT_EQ(infos[1].capacity, 4 * gib);
    EXPECT_EQ(infos[2].capacity, 3 * gib);
    try {
        discover(513 * gib);
        FAIL() << "more than the machine has";
    } catch (const hbf::sdk::Failure &failure) {
        EXPECT_EQ(failure.status, HBF_INVALID);
        EXPECT_THAT(failure.message, HasSubstr("dram_bytes"));
    }
    EXPECT_THROW(discover(0, 513 * gib), hbf::sdk::Failure);
}

TEST_F(DiscoveryTest, ControlGroupsBoundTheWhole) {
    machine.two_sockets_with_cxl().file("proc/self/cgroup", "0::/box\n");
    machine.file("sys/fs/cgroup/box/memory.max", std::to_string(8 * gib)).file("sys/fs/cgroup/box/memory.current", "0\n");
    uint64_t sum = 0;
    for (const auto &info : discover()) sum += info.capacity;
    EXPECT_LE(sum, 8 * gib);
    EXPECT_GT(sum, 5 * gib);
}

TEST_F(DiscoveryTest, NodesOutsideTheCpusetAreLeftOut) {
    machine.two_sockets_with_cxl().file("proc/self/status", "Mems_allowed_list:\t1\n");
    EXPECT_THAT(names(discover()), ElementsAre("dram1", "hbf0"));
}

TEST_F(DiscoveryTest, NodesWithoutMemoryMakeNoTier) {
    machine.two_sockets_with_cxl().node({1, "16-31", 0, 0, "21 10 34"});
    EXPECT_THAT(names(discover()), ElementsAre("dram0", "hbf2"));
}

TEST_F(DiscoveryTest, NothingKnownIsNoTier) {
    EXPECT_TRUE(discover().empty());
}

TEST_F(DiscoveryTest, ANodeThisKernelHasNotIsRefusedWhenUsed) {
    machine.two_sockets_with_cxl()
        .node({900, "", 1048576, 1048576, ""})
        .file("proc/self/status", "Mems_allowed_list:\t0-1023\n");
    const auto infos = discover();
    ASSERT_STREQ(infos.back().name, "hbf900");
    EXPECT_EQ(infos.back().available, 0u);
    try {
        tiers.back()->alloc(4096, 0, HBF_PAGES_DEFAULT);
        FAIL() << "memory of a node that is not there";
    } catch (const hbf::sdk::Failure &failure) {
        EXPECT_EQ(failure.status, HBF_UNAVAILABLE);
        EXPECT_THAT(failure.message, HasSubstr("node 900"));
    }
}

TEST_F(DiscoveryTest, WhatWouldStarveTheMachineIsRefused) {
    machine.basics();
    discover();
    machine.file("proc/meminfo",
                 "MemTotal: 268435456 kB\nMemAvailable: 1100000 kB\n"); // half of the 2 GiB reserve stays free
    try {
        tiers.front()->alloc(uint64_t{64} << 20, 0, HBF_PAGES_DEFAULT);
        FAIL() << "taken from the reserve";
    } catch (const hbf::sdk::Failure &failure) {
        EXPECT_EQ(failure.status, HBF_EXHAUSTED);
        EXPECT_THAT(failure.message, HasSubstr("MemAvailable has 1126400000 bytes left"));
    }
    machine.file("proc/meminfo", "MemTotal: 268435456 kB\nMemAvailable: 1200000 kB\n");
    const Mapping mapping = tiers.front()->alloc(uint64_t{64} << 20, 0, HBF_PAGES_DEFAULT);
    tiers.front()->free(mapping);
    machine.file("proc/meminfo", "MemTotal: 268435456 kB\nMemAvailable: 0 kB\n");
    EXPECT_THROW(tiers.front()->alloc(uint64_t{64} << 20, 0, HBF_PAGES_DEFAULT), hbf::sdk::Failure)
        << "one good answer is not for ever";
}

TEST_F(DiscoveryTest, TheOnlyNodeHasTheWholeMachinesMemory) {
    machine.basics().node(
        {0, "0-3", 1048576, 524288, "10"}); // the node's figures lag behind where memory is plugged in on demand
    const auto infos = discover();
    ASSERT_THAT(names(infos), ElementsAre("dram0", "hbf0"));
    EXPECT_EQ(infos[0].capacity + infos[1].capacity, 190 * gib);
    EXPECT_THAT(infos[0].detail, HasSubstr("256.0 GiB"));
}

} // namespace
