// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/loader/hostile/scene.hpp"
#include "core/loader/needs.hpp"

namespace hbf::loader {
namespace {

using hostile::Scene;

class Needs : public testing::Test {
protected:
    Needs() {
        inventory.root = scene.top();
        PciDevice device;
        device.vendor = 0x1234;
        device.device = 0x5678;
        inventory.pci.push_back(device);
        scene.folder("dev");
    }
    std::string reason() const {
        const auto refusal = unmet_need(manifest, inventory);
        return refusal ? std::string(to_string(refusal->reason)) : "";
    }

    Scene scene;
    Inventory inventory;
    Manifest manifest;
};

TEST_F(Needs, NothingAskedIsMet) {
    EXPECT_EQ(reason(), "");
}

TEST_F(Needs, OneOfTheDevicesIsEnough) {
    manifest.pci = {"9999:*"};
    EXPECT_EQ(reason(), "no_device");
    manifest.pci.push_back("1234:5678");
    EXPECT_EQ(reason(), "");
}

TEST_F(Needs, EveryNodeMustBeThere) {
    manifest.nodes = {"/dev/acme0"};
    EXPECT_EQ(reason(), "driver_absent");
    hostile::write_bytes(scene.top() / "dev" / "acme0", "");
    EXPECT_EQ(reason(), "");
    manifest.nodes.push_back("/dev/other");
    EXPECT_EQ(reason(), "driver_absent");
    manifest.nodes.back() = "/dev/acm?[0-9]";
    EXPECT_EQ(reason(), "");
}

TEST_F(Needs, ANodeThatMayNotBeOpenedIsNamed) {
    if (geteuid() == 0) GTEST_SKIP() << "root may open everything";
    hostile::write_bytes(scene.top() / "dev" / "acme0", "");
    chmod((scene.top() / "dev" / "acme0").c_str(), 0400);
    manifest.nodes = {"/dev/acme*"};
    const auto refusal = unmet_need(manifest, inventory);
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->reason, Reason::permission_denied);
    EXPECT_EQ(refusal->detail.substr(0, 10), "/dev/acme0");
    hostile::write_bytes(scene.top() / "dev" / "acme1", ""); // the second device's node is open
    EXPECT_EQ(reason(), "");
}

TEST_F(Needs, ARootWithPatternCharactersIsTakenAsItIs) {
    inventory.root = scene.folder("odd[*]root");
    hostile::write_bytes(scene.folder("odd[*]root/dev") / "acme0", "");
    EXPECT_EQ(expand(inventory.root, "/dev/acme*"), std::vector<std::string>{"/dev/acme0"});
}

} // namespace
} // namespace hbf::loader
