// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include "conformance/sim/model/testing.hpp"

namespace hbf::model::test {
namespace {

std::string refusal(const std::string &text) {
    const auto profile = parse_profile(text, "machine.toml");
    return profile ? "" : profile.error().message;
}

std::string with(const std::string &from, const std::string &to) {
    std::string text = profile_text();
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos);
    return text.replace(at, from.size(), to);
}

TEST(ModelProfile, RefusalsNamePlaceValueAndRemedy) {
    EXPECT_EQ(refusal(profile_text()), "");
    EXPECT_EQ(refusal(with("iommu", "iomu")), "machine.toml:3:1: [host] has no key \"iomu\" (did you mean \"iommu\"?)");
    EXPECT_EQ(refusal(with("\"64 MiB\"", "true")),
              "machine.toml:11:10: [device] memory: must be a size, such as \"80 GiB\"");
    EXPECT_EQ(refusal(with("line = 64", "line = 65")).substr(0, 12), "machine.toml");
    EXPECT_EQ(refusal(with("0000:02", "0000:01")).substr(0, 12), "machine.toml");
    EXPECT_NE(refusal(with("\"device1\"]", "\"device2\"]")).find("no \"device2\""), std::string::npos);
    EXPECT_NE(
        refusal(profile_text("", "peer = \"maybe\"")).find("must be one of \"none\", \"works\", \"advertised-but-drops\""),
        std::string::npos);
    EXPECT_NE(refusal(profile_text("[device.attributes]\nx = 1")).find("attribute \"x\""), std::string::npos);
    EXPECT_NE(refusal(profile_text("[device.counters]\nwarmth = 1")).find("no counter \"warmth\""), std::string::npos);
    EXPECT_NE(refusal("name = ").find("machine.toml:1"), std::string::npos);
}

TEST(ModelProfile, FreeTablesReachTheDevice) {
    auto machine = make("", profile_text("[device.attributes]\n88 = 1\n-3 = 7\n[device.texts]\nuuid = \"x\"\n"
                                         "[device.counters]\ntemperature_c = 40"));
    Device &device = machine->device(1);
    EXPECT_EQ(device.attribute(88), 1);
    EXPECT_EQ(device.attribute(-3), 7);
    EXPECT_EQ(device.attribute(5, 9), 9);
    EXPECT_EQ(device.text("uuid"), "x");
    EXPECT_EQ(device.health().get(Counter::temperature_c), 40u);
    EXPECT_EQ(device.name(), "Test (emulated)");
    EXPECT_EQ(machine->devices_of("generic").size(), 2u);
    EXPECT_TRUE(machine->devices_of("nvidia").empty());
}

// Every profile that is shipped can be read, and what it says fits together.
TEST(ModelProfile, ShippedOnes) {
    std::set<std::string> seen;
    for (const std::string &folder : profile_folders())
        for (const auto &entry : std::filesystem::directory_iterator(folder)) {
            if (entry.path().extension() != ".toml" || !seen.insert(entry.path().stem().string()).second) continue;
            const auto profile = load_profile(entry.path().stem().string());
            ASSERT_TRUE(profile) << profile.error().message;
            EXPECT_EQ(profile->name, entry.path().stem().string());
            EXPECT_FALSE(profile->title.empty() || profile->source.empty()) << profile->name;
            EXPECT_FALSE(profile->host.nodes.empty()) << profile->name;
            EXPECT_FALSE(profile->devices.empty()) << profile->name;
            Machine machine(*profile, {});
            for (int i = 0; i < machine.device_count(); ++i) {
                EXPECT_NE(machine.host_link(i).profile, nullptr) << profile->name << " device " << i;
                EXPECT_EQ(machine.memory().allocate_device(i, 4096).outcome, Outcome::ok);
            }
        }
    EXPECT_TRUE(seen.contains("generic"));
}

TEST(ModelProfile, AnUnknownNameListsTheKnown) {
    const auto profile = load_profile("generik");
    ASSERT_FALSE(profile);
    EXPECT_NE(profile.error().message.find("(did you mean \"generic\"?); there are: "), std::string::npos);
    EXPECT_FALSE(load_profile("/nowhere/x.toml"));
    EXPECT_FALSE(load_profile(""));
}

TEST(ModelProfile, WithoutOneThereIsNoMachine) {
    ::unsetenv("HBF_EMULATE_PROFILE");
    testing::internal::CaptureStderr();
    EXPECT_EQ(machine(), nullptr);
    EXPECT_EQ(machine(), nullptr);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "hbf emulated machine: " + machine_error() + "\n");
    EXPECT_NE(machine_error().find("HBF_EMULATE_PROFILE is not set"), std::string::npos);
}

} // namespace
} // namespace hbf::model::test
