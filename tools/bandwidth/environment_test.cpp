// SPDX-License-Identifier: Apache-2.0
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "tools/bandwidth/environment.hpp"

namespace hbf::tools::bandwidth {
namespace {

namespace fs = std::filesystem;

class EnvironmentFiles : public testing::Test {
protected:
    fs::path root = fs::temp_directory_path() / ("hbf-environment-" + std::to_string(getpid()));
    void SetUp() override { fs::create_directories(root); }
    void TearDown() override { fs::remove_all(root); }
    void write(const std::string &path, const std::string &text) {
        fs::create_directories((root / path).parent_path());
        std::ofstream(root / path) << text;
    }
};

TEST_F(EnvironmentFiles, AreRead) {
    write("proc/cpuinfo", "processor\t: 0\nmicrocode\t: 0xa0011d1\ncpu MHz\t\t: 2445.404\n\nprocessor\t: 1\n"
                          "microcode\t: 0xa0011d1\ncpu MHz\t\t: 3100.5\n");
    write("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance\n");
    write("sys/devices/system/cpu/cpufreq/policy1/scaling_governor", "powersave\n");
    write("sys/devices/system/cpu/cpufreq/boost", "0\n");
    const auto found = read_environment(root);
    EXPECT_EQ(found.microcode, "0xa0011d1");
    EXPECT_EQ(found.governor, "performance, powersave");
    EXPECT_EQ(found.turbo, "off");
    ASSERT_TRUE(found.mhz_least && found.mhz_most);
    EXPECT_DOUBLE_EQ(*found.mhz_least, 2445.404);
    EXPECT_DOUBLE_EQ(*found.mhz_most, 3100.5);
}

TEST_F(EnvironmentFiles, WhatIsNotThereIsNotGuessed) {
    const auto found = read_environment(root);
    EXPECT_FALSE(found.microcode || found.governor || found.turbo || found.mhz_least);
    const auto json = environment_json({}, found);
    EXPECT_TRUE(json.get("microcode"));
    EXPECT_FALSE(json.get("microcode")->text()); // null
}

} // namespace
} // namespace hbf::tools::bandwidth
