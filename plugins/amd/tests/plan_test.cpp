// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "hbf/sdk/failure.hpp"
#include "plugins/amd/memory/plan.hpp"

namespace hbf::amd {
namespace {

constexpr uint64_t gib = uint64_t{1} << 30;

struct Machine {
    DeviceFacts device;
    Means means{.device = device, .numa_node = 0, .free = 192 * gib, .host = {16 * gib, {}}, .peers = {}};

    Machine() { device.name = "AMD Instinct MI300X"; }
    std::vector<Tier> plan(const AmdOptions &options = {}) const { return plan_tiers(means, options); }
};

std::vector<std::string> names(const std::vector<Tier> &tiers) {
    std::vector<std::string> out;
    for (const Tier &one : tiers) out.push_back(one.name);
    return out;
}

TEST(Plan, WithoutAnythingElseHbfIsPinnedMemoryAndSaysSo) {
    const auto tiers = Machine().plan();
    ASSERT_EQ(names(tiers), (std::vector<std::string>{"hbm0", "hbf0"}));
    EXPECT_EQ(tiers[0].kind, HBF_TIER_HBM);
    EXPECT_LT(tiers[0].capacity, 192 * gib);
    EXPECT_GT(tiers[0].capacity, 180 * gib);
    EXPECT_EQ(tiers[1].media, HBF_MEDIA_PINNED);
    EXPECT_EQ(tiers[1].capacity, 16 * gib);
    EXPECT_NE(tiers[1].detail.find("no CXL memory"), std::string::npos) << tiers[1].detail;
    EXPECT_NE(tiers[1].detail.find("no peer's memory"), std::string::npos) << tiers[1].detail;
}

TEST(Plan, WhoMayMovePagesIsNamed) {
    Machine machine;
    EXPECT_TRUE(machine.plan()[0].detail.ends_with("; no HMM, XNACK off")) << machine.plan()[0].detail;
    machine.device.svm = machine.device.xnack = true;
    EXPECT_TRUE(machine.plan()[0].detail.ends_with("; HMM, XNACK on")) << machine.plan()[0].detail;
}

TEST(Plan, CxlComesBeforePeersBeforePinnedMemory) {
    Machine machine;
    machine.means.host.cxl = {{2, 8 * gib, true, ""}};
    machine.means.peers = {{1, "gpu-0000:c2:00.0", "xGMI, 1 hop", true, "", 80 * gib}};
    machine.means.devices = 2;
    const auto tiers = machine.plan();
    ASSERT_EQ(names(tiers), (std::vector<std::string>{"hbm0", "cxl2", "peer1", "hbf0"}));
    EXPECT_EQ(tiers[1].media, HBF_MEDIA_CXL);
    EXPECT_EQ(tiers[1].node, 2);
    EXPECT_EQ(tiers[1].capacity, 4 * gib) << "two devices share it";
    EXPECT_FALSE(tiers[1].degraded);
    EXPECT_EQ(tiers[2].media, HBF_MEDIA_PEER);
    EXPECT_EQ(tiers[2].owner, 1);
    EXPECT_EQ(tiers[2].capacity, 5 * gib);
    EXPECT_EQ(tiers[2].domain, HBF_DOMAIN_NONE);
    EXPECT_EQ(tiers[3].capacity, 8 * gib);
    EXPECT_EQ(tiers[3].detail.find("no CXL"), std::string::npos) << tiers[3].detail;
}

TEST(Plan, WhatIsNotTheBestWaySaysSo) {
    Machine machine;
    machine.means.host.cxl = {{2, 8 * gib, false, "another machine's"}};
    machine.means.peers = {{1, "gpu-0000:c2:00.0", "PCIe, 2 hops", false, "stores went nowhere", 80 * gib}};
    const auto tiers = machine.plan();
    EXPECT_TRUE(tiers[1].degraded);
    EXPECT_NE(tiers[1].detail.find("another machine's"), std::string::npos);
    EXPECT_TRUE(tiers[2].degraded);
    EXPECT_FALSE(tiers[2].kernels);
    EXPECT_NE(tiers[2].detail.find("stores went nowhere"), std::string::npos);
}

TEST(Plan, OptionsSetSizesAndWhatIsNotThereIsRefused) {
    Machine machine;
    AmdOptions options;
    options.hbm_bytes = 4 << 20, options.host_bytes = 6 << 20;
    const auto tiers = machine.plan(options);
    EXPECT_EQ(tiers[0].capacity, 4u << 20);
    EXPECT_EQ(tiers[1].capacity, 6u << 20);
    const auto status = [&](const AmdOptions &asked) {
        try {
            (void)machine.plan(asked);
        } catch (const sdk::Failure &failure) {
            return failure.status;
        }
        return HBF_OK;
    };
    options.cxl_bytes = 2 << 20;
    EXPECT_EQ(status(options), HBF_UNSUPPORTED);
    options.cxl_bytes = 0, options.peer_bytes = 2 << 20;
    EXPECT_EQ(status(options), HBF_UNSUPPORTED);
    options.peer_bytes = 0, options.hbm_bytes = 400 * gib;
    EXPECT_EQ(status(options), HBF_INVALID);
    options.hbm_bytes = 0, options.cxl = false;
    machine.means.host.cxl = {{2, 8 * gib, true, ""}};
    EXPECT_EQ(names(machine.plan(options)), (std::vector<std::string>{"hbm0", "hbf0"}));
}

} // namespace
} // namespace hbf::amd
