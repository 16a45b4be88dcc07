// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include <gtest/gtest.h>

#include "core/host/machine_fixture.hpp"
#include "core/host/root.hpp"
#include "hbf/inventory.hpp"

namespace hbf::host {
namespace {

class Root : public testing::Test {
protected:
    void TearDown() override {
        ::unsetenv("HBF_EMULATE_ROOT");
        ::unsetenv("HBF_EMULATE_PROFILE");
    }
    test::FakeMachine machine_;
};

TEST_F(Root, IsWhatWasAskedForWithoutEmulation) {
    EXPECT_EQ(machine_root("/"), "/");
    EXPECT_EQ(machine_root("/mnt"), "/mnt");
    EXPECT_EQ(emulated_machine("/"), "");
    machine_.basics();
    EXPECT_EQ(emulated_machine(machine_.root()), "");
}

TEST_F(Root, OfThisMachineIsTheInjectedOne) {
    machine_.basics().file(emulation_marker, "h100x4\nmore\n");
    ::setenv("HBF_EMULATE_ROOT", machine_.root().c_str(), 1);
    EXPECT_EQ(machine_root("/"), machine_.root());
    EXPECT_EQ(machine_root("/mnt"), "/mnt") << "a root that was named stays";
    const auto inventory = read_inventory();
    ASSERT_TRUE(inventory);
    EXPECT_EQ(emulated_machine(inventory->root), "h100x4");
    EXPECT_EQ(inventory->root, machine_.root());
    EXPECT_EQ(inventory->cpu_model, "Test CPU 9000");
}

TEST_F(Root, MarkerWithoutANameIsStillOne) {
    machine_.basics().file(emulation_marker, "");
    EXPECT_EQ(emulated_machine(machine_.root()), "unnamed");
    machine_.remove(emulation_marker).link(emulation_marker, "/nowhere");
    EXPECT_EQ(emulated_machine(machine_.root()), "unnamed");
}

TEST_F(Root, RuntimesThatAreToldToEmulateMakeEverythingEmulated) {
    ::setenv("HBF_EMULATE_PROFILE", "a100", 1);
    EXPECT_EQ(emulated_machine("/"), "a100");
}

TEST_F(Root, ThatIsNoFolderIsAnError) {
    ::setenv("HBF_EMULATE_ROOT", "/nowhere/at/all", 1);
    EXPECT_FALSE(read_inventory());
}

} // namespace
} // namespace hbf::host
