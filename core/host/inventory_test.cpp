// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "core/host/machine_fixture.hpp"
#include "hbf/inventory.hpp"

namespace fs = std::filesystem;
using namespace hbf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

class InventoryTest : public testing::Test {
protected:
    Inventory read() {
        auto got = read_inventory(machine.root());
        if (!got) throw std::runtime_error(got.error().message);
        return std::move(*got);
    }
    static std::string value(const Inventory &inventory, const std::string &key) {
        const auto found = inventory.settings.find(key);
        if (found == inventory.settings.end()) return "(no such setting)";
        return found->second.value.value_or("(error) " + found->second.error);
    }
    test::FakeMachine machine;
};

TEST_F(InventoryTest, TwoSocketsWithCxl) {
    machine.two_sockets_with_cxl();
    const Inventory got = read();
    EXPECT_THAT(got.problems, IsEmpty());
    EXPECT_EQ(got.kernel, "6.8.0-test");
    EXPECT_EQ(got.boot_id, "11111111-2222-3333-4444-555555555555");
    EXPECT_EQ(got.cpu_model, "Test CPU 9000");
    EXPECT_EQ(got.hypervisor, "");
    EXPECT_EQ(got.last_level_cache_bytes, uint64_t{64} << 20);

    ASSERT_THAT(got.nodes, SizeIs(3));
    EXPECT_THAT(got.nodes[0].cpus, SizeIs(16));
    EXPECT_FALSE(got.nodes[0].cxl);
    EXPECT_EQ(got.nodes[1].memory_bytes, uint64_t{128} << 30);
    EXPECT_EQ(got.nodes[1].free_bytes, uint64_t{64} << 30);
    EXPECT_THAT(got.nodes[2].cpus, IsEmpty());
    EXPECT_TRUE(got.nodes[2].cxl);
    EXPECT_THAT(got.nodes[2].distances, ElementsAre(24, 34, 10));
    EXPECT_EQ(got.nodes[2].bandwidth_gbs, 28.0);
    EXPECT_EQ(got.nodes[2].latency_ns, 290.0);

    ASSERT_THAT(got.pci, SizeIs(3));
    EXPECT_EQ(got.pci[1].address, "0000:00:1f.0");
    EXPECT_EQ(got.pci[1].numa_node, -1);
    EXPECT_EQ(got.pci[1].driver, "");
    const PciDevice &accelerator = got.pci[2];
    EXPECT_EQ(accelerator.vendor, 0x1234);
    EXPECT_EQ(accelerator.device, 0xabcd);
    EXPECT_EQ(accelerator.class_code, 0x030200u);
    EXPECT_EQ(accelerator.driver, "vendor_drv");
    EXPECT_EQ(accelerator.iommu_group, 7);
    EXPECT_EQ(accelerator.link.current_gts, 8.0);
    EXPECT_EQ(accelerator.link.max_gts, 16.0);
    EXPECT_EQ(accelerator.link.current_width, 8);
    EXPECT_EQ(accelerator.link.max_width, 16);

    ASSERT_THAT(got.cxl, SizeIs(2));
    EXPECT_EQ(got.cxl[0].type, "memory");
    EXPECT_EQ(got.cxl[0].ram_bytes, uint64_t{256} << 30);
    EXPECT_EQ(got.cxl[1].type, "region");
    EXPECT_EQ(got.cxl[1].numa_node, 2);
    ASSERT_THAT(got.dax, SizeIs(1));
    EXPECT_EQ(got.dax[0].mode, "system-ram");
    EXPECT_EQ(got.dax[0].target_node, 2);

    ASSERT_THAT(got.blocks, SizeIs(1)) << "loop0 has no medium";
    EXPECT_EQ(got.blocks[0].model, "TEST SSD 4TB");
    EXPECT_EQ(got.blocks[0].size, uint64_t{7501476528} * 512);
    EXPECT_EQ(got.blocks[0].logical_block, 512u);
    EXPECT_EQ(got.blocks[0].scheduler, "none");
    EXPECT_EQ(got.blocks[0].numa_node, 1);
}

TEST_F(InventoryTest, Settings) {
    machine.two_sockets_with_cxl();
    machine.file("sys/devices/system/edac/mc/mc0/ce_count", "3\n").file("sys/devices/system/edac/mc/mc0/ue_count", "0\n");
    machine.file("sys/devices/system/edac/mc/mc1/ce_count", "4\n").file("sys/devices/system/edac/mc/mc1/ue_count", "1\n");
    for (const char *device : {"0000:00:1c.0", "0000:5e:00.0"}) {
        const std::string folder = std::string("sys/bus/pci/devices/") + device;
        machine.file(folder + "/aer_dev_correctable", "RxErr 2\nBadTLP 1\nTOTAL_ERR_COR 3\n");
        machine.file(folder + "/aer_dev_fatal", "DLP 0\nTOTAL_ERR_FATAL 0\n");
    }
    const Inventory got = read();
    EXPECT_EQ(value(got, "memlock"), "8388608");
    EXPECT_EQ(value(got, "nofile"), "1024");
    EXPECT_EQ(value(got, "cpuset_mems"), "0-2");
    EXPECT_EQ(value(got, "thp"), "madvise");
    EXPECT_EQ(value(got, "thp_defrag"), "madvise");
    EXPECT_EQ(value(got, "hugepages_2048kB"), "512");
    EXPECT_EQ(value(got, "hugepages_2048kB_free"), "500");
    EXPECT_EQ(value(got, "numa_balancing"), "1");
    EXPECT_EQ(value(got, "mem_available"), std::to_string(uint64_t{201326592} * 1024));
    EXPECT_EQ(value(got, "iommu"), "DMA-FQ");
    EXPECT_EQ(value(got, "iommu_cmdline"), "intel_iommu=on iommu=pt");
    EXPECT_EQ(value(got, "edac_ce"), "7");
    EXPECT_EQ(value(got, "edac_ue"), "1");
    EXPECT_EQ(value(got, "aer_correctable"), "6");
    EXPECT_EQ(value(got, "aer_fatal"), "0");
    EXPECT_EQ(value(got, "io_uring_disabled"), "0");
    EXPECT_EQ(got.settings.at("thp").source, (machine.root() / "sys/kernel/mm/transparent_hugepage/enabled").string());
}

TEST_F(InventoryTest, WhatIsNotThereIsEmptyNeverZero) {
    machine.basics().remove("proc/sys/kernel/numa_balancing").remove("sys/kernel/iommu_groups").remove("proc/self");
    const Inventory got = read();
    EXPECT_THAT(got.nodes, IsEmpty()) << "a kernel without NUMA support";
    for (const char *key : {"numa_balancing", "edac_ce", "edac_ue", "aer_fatal", "iommu", "memlock", "cgroup_memory_max"}) {
        ASSERT_TRUE(got.settings.contains(key)) << key;
        EXPECT_EQ(got.settings.at(key).value, std::nullopt) << key;
        EXPECT_THAT(got.settings.at(key).error, HasSubstr(machine.root().string())) << key;
    }
}

TEST_F(InventoryTest, AnEmptyRootHasProblemsAndNoFacts) {
    const Inventory got = read();
    EXPECT_THAT(got.pci, IsEmpty());
    EXPECT_THAT(got.problems, Contains(HasSubstr("sys/bus/pci/devices: not there")));
    EXPECT_THAT(got.problems, Contains(HasSubstr("boot_id")));
    EXPECT_EQ(read_inventory(machine.root() / "missing").error().code, Code::unavailable);
    machine.file("plain", "");
    EXPECT_EQ(read_inventory(machine.root() / "plain").error().code, Code::unavailable);
}

TEST_F(InventoryTest, GarbageIsSaidAndLeftOut) {
    machine.two_sockets_with_cxl();
    machine.file("sys/bus/pci/devices/0000:3b:00.0/vendor", "\xff\xfe\x00garbage")
        .file("sys/bus/pci/devices/junk/vendor", "0x1");
    machine.file("sys/bus/pci/devices/0000:00:01.0/current_link_speed", "fast\n");
    machine.file("sys/devices/system/node/node1/cpulist", "0-4294967295\n");
    machine.file("sys/devices/system/node/node0/meminfo", "Node 0 MemTotal: 99999999999999999999 kB\n");
    machine.file("sys/devices/system/node/node2/distance", "10 -1\n");
    machine.file("sys/block/nvme0n1/size", "many\n");
    const Inventory got = read();
    EXPECT_THAT(got.pci, SizeIs(2));
    EXPECT_EQ(got.pci[0].link.current_gts, 0);
    EXPECT_THAT(got.nodes, SizeIs(2)) << "a node whose CPUs are not known would pass for far memory";
    EXPECT_EQ(got.nodes[0].memory_bytes, 0u);
    EXPECT_THAT(got.nodes[1].distances, IsEmpty());
    EXPECT_THAT(got.blocks, IsEmpty());
    for (const char *where : {"3b:00.0/vendor", "devices/junk: no PCI address", "current_link_speed", "node1/cpulist",
                              "node0/meminfo", "node2/distance", "nvme0n1/size: expected a number, found \"many\""}) {
        EXPECT_THAT(got.problems, Contains(HasSubstr(where)));
    }
    for (const std::string &problem : got.problems) EXPECT_EQ(problem.find('\xff'), std::string::npos) << problem;
}

TEST_F(InventoryTest, UnreadableIsSaid) {
    // A folder in a file's place cannot be read by anyone, root included.
    machine.two_sockets_with_cxl().remove("proc/sys/vm/swappiness").folder("proc/sys/vm/swappiness");
    machine.remove("sys/kernel/iommu_groups/7/type").folder("sys/kernel/iommu_groups/7/type");
    const Inventory got = read();
    EXPECT_EQ(got.settings.at("swappiness").value, std::nullopt);
    EXPECT_THAT(got.settings.at("swappiness").error, HasSubstr("Is a directory"));
    EXPECT_EQ(got.settings.at("iommu").value, std::nullopt) << "one group unknown: no verdict";
    EXPECT_THAT(got.problems, Contains(HasSubstr("swappiness: Is a directory")));
}

TEST_F(InventoryTest, PermissionIsSaid) {
    if (geteuid() == 0) GTEST_SKIP() << "root reads everything";
    machine.two_sockets_with_cxl();
    fs::permissions(machine.root() / "proc/sys/vm/swappiness", fs::perms::none);
    const Inventory got = read();
    EXPECT_THAT(got.settings.at("swappiness").error, HasSubstr("Permission denied"));
    EXPECT_THAT(got.problems, Contains(HasSubstr("swappiness: Permission denied")));
}

TEST_F(InventoryTest, SizesAndCountsAreBounded) {
    machine.two_sockets_with_cxl().file("proc/sys/vm/swappiness", std::string(1 << 20, '6'));
    machine.file("proc/cpuinfo", "model name\t: Big\n" + std::string(1 << 22, '\n'));
    for (int i = 0; i < 10001; ++i) { // links to one device: each costs one entry only
        char name[32];
        std::snprintf(name, sizeof name, "0001:%02x:%02x.%d", i / 256, i / 8 % 32, i % 8);
        std::error_code exists;
        fs::create_symlink("0000:00:1f.0", machine.root() / "sys/bus/pci/devices" / name, exists);
    }
    for (int i = 0; i < 10001; ++i)
        fs::create_directory_symlink(".", machine.root() / "sys/block" / ("loopback" + std::to_string(i)));
    const Inventory got = read();
    EXPECT_EQ(got.cpu_model, "Big");
    EXPECT_EQ(got.settings.at("swappiness").value, std::nullopt);
    EXPECT_THAT(got.settings.at("swappiness").error, HasSubstr("larger than 65536 bytes"));
    EXPECT_LE(got.pci.size(), 10000u);
    EXPECT_THAT(got.problems, Contains(HasSubstr("sys/block: more than 10000 entries")));
    EXPECT_LE(got.problems.size(), 101u);
}

TEST_F(InventoryTest, LinkLoopsEnd) {
    machine.basics().link("sys/bus/pci/devices/0000:00:00.0", "0000:00:00.0");
    machine.link("sys/devices/system/node", "node").link("sys/bus/dax", "../bus/dax");
    const Inventory got = read();
    EXPECT_THAT(got.pci, IsEmpty());
    EXPECT_THAT(got.problems, Contains(HasSubstr("symbolic links")));
}

TEST_F(InventoryTest, CgroupTwoTakesTheTightestOnTheWayUp) {
    machine.basics().file("proc/self/cgroup", "0::/user.slice/job\n");
    machine.file("sys/fs/cgroup/user.slice/memory.max", "8589934592\n")
        .file("sys/fs/cgroup/user.slice/job/memory.max", "max\n");
    machine.file("sys/fs/cgroup/user.slice/memory.high", "max\n")
        .file("sys/fs/cgroup/user.slice/job/memory.high", "4294967296\n");
    machine.file("sys/fs/cgroup/user.slice/job/memory.current", "1000\n");
    Inventory got = read();
    EXPECT_EQ(value(got, "cgroup_memory_max"), "8589934592");
    EXPECT_THAT(got.settings.at("cgroup_memory_max").source, HasSubstr("sys/fs/cgroup/user.slice/memory.max"));
    EXPECT_EQ(value(got, "cgroup_memory_high"), "4294967296");
    EXPECT_EQ(value(got, "cgroup_memory_current"), "1000");
    machine.file("sys/fs/cgroup/user.slice/memory.max", "lots\n");
    got = read();
    EXPECT_EQ(got.settings.at("cgroup_memory_max").value, std::nullopt) << "an unknown limit is not no limit";
    machine.file("proc/self/cgroup", "0::/elsewhere/on/the/host\n").file("sys/fs/cgroup/memory.max", "123456789\n");
    EXPECT_EQ(value(read(), "cgroup_memory_max"), "123456789") << "a container sees its own group as the mount's root";
}

TEST_F(InventoryTest, CgroupOne) {
    machine.basics().file("proc/self/cgroup", "5:cpu,memory:/a\n0::/\n").folder("sys/fs/cgroup/memory/a");
    machine.file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    machine.file("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
    EXPECT_EQ(value(read(), "cgroup_memory_max"), "max");
    machine.file("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1073741824\n");
    EXPECT_EQ(value(read(), "cgroup_memory_max"), "1073741824");
}

TEST_F(InventoryTest, AcsRedirectComesFromTheBridges) {
    machine.two_sockets_with_cxl();
    const auto config = [](bool redirect) {
        std::string space(4096, '\0');
        const auto put = [&space](size_t at, uint32_t v) {
            for (size_t i = 0; i < 4; ++i) space[at + i] = static_cast<char>(v >> (8 * i));
        };
        put(0x100, 0x14810001); // another capability; the next one is at 0x148
        put(0x148, 0x0001000d);
        put(0x14c, (redirect ? 0x001du : 0x0001u) << 16 | 0x005f);
        return space;
    };
    machine.file("sys/bus/pci/devices/0000:00:01.0/config", config(true));
    EXPECT_EQ(value(read(), "acs_redirect"), "0000:00:01.0");
    machine.file("sys/bus/pci/devices/0000:00:01.0/config", config(false));
    EXPECT_EQ(value(read(), "acs_redirect"), "none");
    std::string endless(4096, '\0');
    endless.replace(0x100, 4, std::string("\x01\x00\x01\x10", 4)); // points to itself
    machine.file("sys/bus/pci/devices/0000:00:01.0/config", endless);
    EXPECT_EQ(read().settings.at("acs_redirect").value, std::nullopt) << "a list without end is no list";
    machine.file("sys/bus/pci/devices/0000:00:01.0/config", std::string(256, '\0'));
    EXPECT_EQ(value(read(), "acs_redirect"), "none") << "a conventional bridge has no extended part";
    machine.file("sys/bus/pci/devices/0000:00:01.0/config", std::string(64, '\0'));
    EXPECT_EQ(read().settings.at("acs_redirect").value, std::nullopt) << "what an ordinary user gets of any device";
    machine.remove("sys/bus/pci/devices/0000:00:01.0/config");
    EXPECT_EQ(read().settings.at("acs_redirect").value, std::nullopt);
}

TEST_F(InventoryTest, VirtualMachinesAreSaid) {
    machine.basics().file("proc/cpuinfo", "model name : V\nflags : fpu hypervisor sse2\n");
    EXPECT_EQ(read().hypervisor, "unnamed");
    machine.file("sys/class/dmi/id/sys_vendor", "QEMU\n");
    EXPECT_EQ(read().hypervisor, "QEMU");
    machine.file("proc/cpuinfo", "processor : 0\nCPU implementer : 0x41\nCPU part : 0xd0c\n");
    EXPECT_EQ(read().cpu_model, "Arm, implementer 0x41, part 0xd0c");
    EXPECT_EQ(read().hypervisor, "");
}

TEST_F(InventoryTest, DeviceDaxIsNoNode) {
    machine.two_sockets_with_cxl().remove("sys/bus/dax").remove("sys/bus/cxl").dax("dax1.0", 1 << 30, 2, "device_dax");
    const Inventory got = read();
    EXPECT_EQ(got.dax.at(0).mode, "devdax");
    EXPECT_FALSE(got.nodes[2].cxl);
}

TEST(InventoryOfThisMachine, HasWhatEveryLinuxHas) {
    const auto got = read_inventory();
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_FALSE(got->kernel.empty());
    EXPECT_FALSE(got->boot_id.empty());
    EXPECT_TRUE(got->settings.at("mem_total").value);
    EXPECT_TRUE(got->settings.at("nofile").value);
}

} // namespace
