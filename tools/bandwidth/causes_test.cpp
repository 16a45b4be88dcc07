// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tools/bandwidth/causes.hpp"
#include "tools/bandwidth/fake_machine.hpp"
#include "tools/bandwidth/row_fixture.hpp"

namespace hbf::tools::bandwidth {
namespace {

TEST(Causes, NameSlotNumaBalancingContentionIommuAndDegradation) {
    FakeMachine machine;
    machine.pci = "0000:3b:00.0";
    PciDevice device;
    device.address = machine.pci;
    device.link = {8, 16, 8, 16};
    machine.inventory_.pci.push_back(device);
    machine.inventory_.nodes = {{0, {0}, 0, 0, {10, 21}, {}, {}, false}, {1, {1}, 0, 0, {21, 10}, {}, {}, false}};
    machine.inventory_.settings["numa_balancing"] = {"1", "/proc/sys/kernel/numa_balancing", ""};
    machine.inventory_.settings["iommu"] = {"translated", "/sys/kernel/iommu_groups", ""};
    machine.places_[1].tier.numa_node = 1;
    machine.places_[1].tier.degraded = true;
    machine.places_[1].tier.detail = "far pool without huge pages";
    auto row = row_of(5, 10);
    row.spec = {0, 1};
    row.contended = 4;
    row.samples[0].contention = measure::Contention{0.4, 0.02, 3, true};
    row.dst_pages = {{0, 10}, {1, 90}};
    const auto causes = likely_causes(row, machine);
    EXPECT_TRUE(has(causes, "contention: 4 of 10"));
    EXPECT_TRUE(has(causes, "slot width: PCI 0000:3b:00.0 runs x8 of x16"));
    EXPECT_TRUE(has(causes, "link speed: PCI 0000:3b:00.0 runs at 8.00 of 16.0 GT/s"));
    EXPECT_TRUE(has(causes, "NUMA distance 21 between node 0 and node 1"));
    EXPECT_TRUE(has(causes, "10 of 100 pages of the destination are not on node 1"));
    EXPECT_TRUE(has(causes, "numa_balancing is on (=1)"));
    EXPECT_TRUE(has(causes, "far pool without huge pages"));
    EXPECT_TRUE(has(causes, "IOMMU: translated"));
}

TEST(Causes, NameALinkThatIsDownAndARedirect) {
    FakeMachine machine;
    machine.pci = "0000:3b:00.0";
    PciDevice device;
    device.address = machine.pci;
    device.link.max_width = 16;
    device.link.max_gts = 16;
    machine.inventory_.pci = {device};
    machine.inventory_.settings["acs_redirect"] = {"0000:00:01.0", "", ""};
    const auto causes = likely_causes(row_of(5, 10), machine);
    EXPECT_TRUE(has(causes, "link down: PCI 0000:3b:00.0 has no lane of x16"));
    EXPECT_TRUE(has(causes, "IOMMU redirect: PCI bridge 0000:00:01.0"));
    EXPECT_FALSE(has(causes, "slot width"));
    machine.inventory_.pci[0].link.max_width = 255; // what is no PCI Express device says
    machine.inventory_.settings["acs_redirect"].value = "none";
    EXPECT_TRUE(likely_causes(row_of(5, 10), machine).empty());
}

TEST(Causes, AreNotInvented) {
    FakeMachine machine;
    EXPECT_TRUE(likely_causes(row_of(5, 10), machine).empty());
}

TEST(Causes, PassthroughIsNone) {
    FakeMachine machine;
    machine.pci = "0000:3b:00.0";
    machine.inventory_.settings["iommu"] = {"identity", "/sys/kernel/iommu_groups", ""};
    EXPECT_TRUE(likely_causes(row_of(5, 10), machine).empty());
    machine.inventory_.settings["iommu"].value = "DMA-FQ,identity";
    EXPECT_TRUE(has(likely_causes(row_of(5, 10), machine), "IOMMU: DMA-FQ,identity"));
}

TEST(Causes, NameLinksBetweenDevicesThatAreDown) {
    FakeMachine machine;
    machine.readings = {{"nvlink0.active", "", false, 1},
                        {"nvlink1.active", "", false, 0},
                        {"nvlink2.active", "", false, 0},
                        {"nvlink1.replays", "errors", true, 0},
                        {"temperature", "celsius", false, 0}};
    const auto causes = likely_causes(row_of(5, 10), machine);
    EXPECT_TRUE(has(causes, "link down: 2 of 3 links of host between devices are down (nvlink1 to nvlink2)"));
    EXPECT_EQ(causes.size(), 1u) << "each once, though both ends are of one device";
    machine.readings = {{"nvlink0.active", "", false, 1}};
    EXPECT_TRUE(likely_causes(row_of(5, 10), machine).empty());
}

TEST(Causes, NameMemoryFarFromTheDevice) {
    FakeMachine machine;
    machine.pci = "0000:3b:00.0";
    PciDevice device;
    device.address = machine.pci;
    device.numa_node = 1;
    machine.inventory_.pci = {device};
    machine.inventory_.nodes = {{0, {0}, 0, 0, {10, 21}, {}, {}, false}, {1, {1}, 0, 0, {21, 10}, {}, {}, false}};
    auto row = row_of(5, 10);
    row.src_pages = {{0, 3}, {1, 1}};
    row.dst_pages = {{1, 4}};
    const auto causes = likely_causes(row, machine);
    EXPECT_TRUE(has(causes, "far NUMA node: PCI 0000:3b:00.0 hangs at node 1, the source lies on node 0 (75 % of it, "
                            "distance 21)"));
    EXPECT_FALSE(has(causes, "the destination lies"));
    machine.inventory_.pci[0].numa_node = 0;
    row.src_pages = row.dst_pages = {{0, 4}};
    EXPECT_FALSE(has(likely_causes(row, machine), "far NUMA node"));
    machine.inventory_.pci[0].numa_node = -1; // not known: nothing is said
    row.src_pages = {{1, 4}};
    EXPECT_FALSE(has(likely_causes(row, machine), "far NUMA node"));
}

TEST(Causes, LinksAreNamedWhereNothingIsToCompareWith) {
    FakeMachine machine;
    machine.readings = {{"nvlink0.active", "", false, 0}};
    auto row = row_of(5, 10);
    row.references.clear();
    row.one_thread.reset();
    judge(row, machine);
    EXPECT_EQ(row.status, Status::pass);
    EXPECT_TRUE(has(row.causes, "link down"));
    auto fast = row_of(9, 10);
    judge(fast, machine);
    EXPECT_TRUE(fast.causes.empty());
}

} // namespace
} // namespace hbf::tools::bandwidth
