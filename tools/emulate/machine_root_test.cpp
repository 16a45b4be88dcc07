// SPDX-License-Identifier: Apache-2.0
// What the inventory reads of an emulated machine is what its profile says.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "core/host/root.hpp"
#include "hbf/inventory.hpp"
#include "tools/emulate/libraries.hpp"
#include "tools/emulate/machine_root.hpp"
#include "tools/emulated.hpp"

namespace hbf::tools::emulate {
namespace {

model::Profile profile_of(const std::string &name) {
    ::setenv("HBF_EMULATE_PROFILES", profiles_folder().c_str(), 1);
    auto profile = model::load_profile(name);
    if (!profile) throw std::runtime_error(profile.error().message);
    return *profile;
}

Inventory seen(const std::string &name, const std::string &faults = "") {
    const auto root = MachineRoot::make(profile_of(name), model::parse_faults(faults).value());
    if (!root) throw std::runtime_error(root.error().message);
    return read_inventory(root->path()).value();
}

const PciDevice *device(const Inventory &inventory, const std::string &address) {
    for (const PciDevice &one : inventory.pci)
        if (one.address == address) return &one;
    return nullptr;
}

TEST(MachineRoot, OfEveryProfileIsReadWithoutAProblem) {
    const auto names = profile_names();
    EXPECT_GE(names.size(), 10u);
    for (const std::string &name : names) {
        const auto profile = profile_of(name);
        const auto inventory = seen(name);
        for (const std::string &problem : inventory.problems) ADD_FAILURE() << name << ": " << problem;
        EXPECT_EQ(inventory.nodes.size(), profile.host.nodes.size()) << name;
        size_t cards = 0;
        for (const auto &one : profile.devices) cards += !one.pci.empty();
        EXPECT_EQ(inventory.pci.size(), cards + profile.host.acs_redirect) << name;
        EXPECT_NE(inventory.cpu_model.find("(emulated)"), std::string::npos) << name;
    }
}

TEST(MachineRoot, IsMarkedAndGoneWithTheObject) {
    std::filesystem::path path;
    {
        const auto root = MachineRoot::make(profile_of("h100"), {});
        ASSERT_TRUE(root);
        path = root->path();
        EXPECT_EQ(host::emulated_machine(path), "h100");
        EXPECT_TRUE(std::filesystem::exists(path / "dev/nvidia0"));
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(MachineRoot, CardsHaveTheirLinksAndNodes) {
    const auto inventory = seen("h100x4");
    const auto profile = profile_of("h100x4");
    for (const auto &card : profile.devices) {
        const PciDevice *const found = device(inventory, card.pci);
        ASSERT_NE(found, nullptr) << card.pci;
        EXPECT_EQ(found->vendor, 0x10de);
        EXPECT_EQ(found->numa_node, card.numa);
        EXPECT_EQ(found->link.current_width, 16);
        EXPECT_EQ(found->link.max_width, 16);
        EXPECT_EQ(found->link.current_gts, 32);
    }
    EXPECT_EQ(inventory.settings.at("acs_redirect").value, "none");
    EXPECT_EQ(inventory.settings.at("iommu").value, "identity");
}

TEST(MachineRoot, ANarrowSlotIsOfTheDevicesTheFaultIsAbout) {
    const auto profile = profile_of("h100x4");
    const auto one = seen("h100x4", "link-narrow:device=1,value=8");
    EXPECT_EQ(device(one, profile.devices[0].pci)->link.current_width, 16);
    EXPECT_EQ(device(one, profile.devices[1].pci)->link.current_width, 8);
    EXPECT_EQ(device(one, profile.devices[1].pci)->link.max_width, 16);
    const auto all = seen("h100x4", "link-narrow");
    for (const auto &card : profile.devices) EXPECT_EQ(device(all, card.pci)->link.current_width, 4);
}

TEST(MachineRoot, ARedirectIsSeenInTheBridgeAndTheGroups) {
    const auto inventory = seen("h100x4", "iommu-redirect");
    EXPECT_EQ(inventory.settings.at("acs_redirect").value, "0000:00:01.0");
    EXPECT_EQ(inventory.settings.at("iommu").value, "DMA-FQ");
}

TEST(MachineRoot, ALinkThatIsDownHasNoLane) {
    auto profile = profile_of("a100");
    for (auto &link : profile.links) link.up = false;
    const auto root = MachineRoot::make(profile, {});
    ASSERT_TRUE(root);
    const auto inventory = read_inventory(root->path()).value();
    EXPECT_EQ(inventory.pci.at(0).link.current_width, 0);
    EXPECT_EQ(inventory.pci.at(0).link.max_width, 16);
    EXPECT_EQ(inventory.pci.at(0).link.current_gts, 0);
    EXPECT_TRUE(inventory.problems.empty());
}

TEST(MachineRoot, ADeviceNodeOutsideIsRefused) {
    auto profile = profile_of("a100");
    profile.devices[0].nodes = {"/dev/../../etc/passwd"};
    const auto root = MachineRoot::make(profile, {});
    ASSERT_FALSE(root);
    EXPECT_NE(root.error().message.find("is no absolute path"), std::string::npos) << root.error().message;
}

TEST(SaidEmulated, EveryLineWithAWordSaysSoOnce) {
    const std::string text = "a 1\n\n  b 2\nc EMULATED\nlast";
    ::unsetenv("HBF_EMULATE_PROFILE");
    ::unsetenv("HBF_EMULATE_ROOT");
    EXPECT_EQ(said_emulated(text), text);
    ::setenv("HBF_EMULATE_PROFILE", "a100", 1);
    EXPECT_EQ(said_emulated(text), "a 1  [emulated]\n\n  b 2  [emulated]\nc EMULATED\nlast  [emulated]");
    ::unsetenv("HBF_EMULATE_PROFILE");
}

} // namespace
} // namespace hbf::tools::emulate
