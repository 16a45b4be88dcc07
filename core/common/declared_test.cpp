// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include <gtest/gtest.h>

#include "core/common/declared.hpp"

namespace hbf {
namespace {

TEST(Declared, OnlyWhatSaysItIsRealInADeviceThatSaysSoIsReal) {
    for (const uint32_t reality : {0u, HBF_REALITY_EMULATED, 99u}) {
        hbf_device_info device{};
        device.reality = reality;
        EXPECT_TRUE(device_declared(device).emulated) << reality;
        hbf_tier_info tier = unfilled_tier();
        tier.reality = reality;
        EXPECT_TRUE(tier_declared(0, tier, false).emulated) << reality;
    }
    hbf_device_info device{};
    device.reality = HBF_REALITY_REAL;
    EXPECT_FALSE(device_declared(device).emulated);
    hbf_tier_info tier = unfilled_tier();
    tier.reality = HBF_REALITY_REAL;
    EXPECT_FALSE(tier_declared(0, tier, false).emulated);
    EXPECT_TRUE(tier_declared(0, tier, true).emulated);
}

TEST(Declared, CpusAreNoAccelerator) {
    hbf_device_info device{};
    EXPECT_FALSE(device_declared(device).on_cpu);
    device.flags = ~HBF_DEVICE_ON_CPU; // what a later version may add
    EXPECT_FALSE(device_declared(device).on_cpu);
    device.flags = HBF_DEVICE_ON_CPU;
    EXPECT_TRUE(device_declared(device).on_cpu);
}

TEST(Declared, WhatIsNotFilledIsNowhere) {
    const TierInfo tier = tier_declared(3, unfilled_tier(), false);
    EXPECT_EQ(tier.index, 3u);
    EXPECT_EQ(tier.numa_node, -1);
    EXPECT_FALSE(tier.domain);
    EXPECT_FALSE(tier.extended_by);
    EXPECT_TRUE(tier.name.empty());
}

TEST(Declared, TextsEndWithTheirFieldAndCanBeShown) {
    hbf_device_info info{};
    std::memset(info.name, 'x', sizeof info.name);
    std::memcpy(info.id, "a\x1b[0m", 6);
    std::memcpy(info.driver, "b\x1b[0m", 6);
    const ProbedDevice device = device_declared(info);
    EXPECT_EQ(device.name, std::string(sizeof info.name, 'x'));
    EXPECT_EQ(device.driver, "b\\x1b[0m");
    EXPECT_EQ(device.id, "a\x1b[0m") << "the plugin is asked for it again";
}

} // namespace
} // namespace hbf
