// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor/testing/machines.hpp"

namespace hbf::tools::doctor {
namespace {

using test::FakeMachine;

const std::string pci = "sys/bus/pci/devices/", own_group = "sys/fs/cgroup/user.slice/hbf.scope/";

// What stands in a device's registers: its maker, a PCI Express capability, access control.
std::string config(uint16_t vendor, bool redirect = false, bool relaxed = false) {
    std::string space(4096, '\0');
    const auto put = [&space](size_t at, uint32_t value) {
        for (size_t i = 0; i < 4; ++i) space[at + i] = static_cast<char>(value >> (8 * i));
    };
    put(0x00, vendor);
    put(0x04, 0x10u << 16); // it has a list of capabilities
    put(0x34, 0x60);
    put(0x60, 0x0002'0010);
    put(0x68, relaxed ? 0x10 : 0);
    put(0x100, 0x14810001); // another capability; the next one is at 0x148
    put(0x148, 0x0001000d);
    put(0x14c, (redirect ? 0x001du : 0x0001u) << 16 | 0x005f);
    return space;
}

void device(FakeMachine &machine, const std::string &way, test::FakePci what, uint16_t vendor) {
    const std::string at = pci + what.address + "/";
    const std::string folder = "devices/pci0000:00/" + way + what.address;
    machine.folder("sys/" + folder).link(pci + what.address, "../../../" + folder).pci(what);
    machine.file(at + "config", config(vendor));
    if (what.iommu_group >= 0)
        machine.file("sys/kernel/iommu_groups/" + std::to_string(what.iommu_group) + "/type", "identity\n");
    machine.file(at + "aer_dev_correctable", "RxErr 0\nBadTLP 0\nTOTAL_ERR_COR 0\n");
    machine.file(at + "aer_dev_nonfatal", "DLP 0\nTOTAL_ERR_NONFATAL 0\n");
    machine.file(at + "aer_dev_fatal", "DLP 0\nTOTAL_ERR_FATAL 0\n");
}

void devices(FakeMachine &machine, const std::string &maker, uint16_t number, const std::string &driver) {
    const std::string port = "0000:00:01.0/", bridge = port + "0000:01:00.0/";
    const std::string gen4 = "16.0 GT/s PCIe";
    device(machine, "", {"0000:00:01.0", "0x8086", "0x347a", "0x060400", 0, "pcieport", 1, gen4, gen4, 16, 16}, 0x8086);
    device(machine, port, {"0000:01:00.0", "0x1000", "0xc010", "0x060400", 0, "pcieport", 2, gen4, gen4, 16, 16}, 0x1000);
    int group = 3;
    for (const char *address : {"0000:02:00.0", "0000:03:00.0"}) {
        device(machine, bridge, {address, maker, "0x2330", "0x030200", 0, driver, group++, gen4, gen4, 16, 16}, number);
        machine.file(pci + address + "/resource", "0x00000000f0000000 0x00000000f0ffffff 0x0000000000040200\n"
                                                  "0x0000380000000000 0x000038000fffffff 0x000000000014220c\n"
                                                  "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
                                                  "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
                                                  "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
                                                  "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
                                                  "0x0000000000000000 0x0000000000000000 0x0000000000000000\n");
        machine.file(pci + address + "/resource1_resize", "00000000000001c0\n"); // 64, 128 or 256 MiB
    }
    device(machine, bridge, {"0000:04:00.0", "0x15b3", "0x1021", "0x020700", 0, "mlx5_core", group++, gen4, gen4, 16, 16},
           0x15b3);
    device(machine, "", {"0000:05:00.0", "0x144d", "0xa80c", "0x010802", 0, "nvme", group++, gen4, gen4, 4, 4}, 0x144d);
}

void memory(FakeMachine &machine) {
    const std::string mm = "sys/kernel/mm/";
    machine.file("proc/meminfo", "MemTotal:       536870912 kB\nMemFree:        134217728 kB\nMemAvailable:   201326592 kB\n"
                                 "HardwareCorrupted:     0 kB\n");
    machine.node({0, "0-15", 134217728, 67108864, "10 21 24", 153600, 100});
    machine.node({1, "16-31", 134217728, 67108864, "21 10 34", 153600, 100});
    machine.node({2, "", 268435456, 260000000, "24 34 10", 28000, 290});
    machine.file("sys/devices/system/node/has_memory", "0-2\n");
    machine.file("proc/sys/kernel/numa_balancing", "0\n").file(mm + "numa/demotion_enabled", "false\n");
    machine.file(mm + "transparent_hugepage/khugepaged/defrag", "1\n").file(mm + "ksm/run", "0\n");
    machine.file("sys/module/zswap/parameters/enabled", "N\n").file("proc/sys/vm/max_map_count", "65530\n");
    machine.file("proc/swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n");
    machine.file("sys/devices/system/edac/mc/mc0/ce_count", "0\n").file("sys/devices/system/edac/mc/mc0/ue_count", "0\n");
}

void process(FakeMachine &machine) {
    machine.file("proc/self/status", "Name:\thbf\nUid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\nCpus_allowed_list:\t0-31\n");
    machine.file("proc/self/limits", "Limit                     Soft Limit           Hard Limit           Units     \n"
                                     "Max open files            65536                524288               files     \n"
                                     "Max locked memory         unlimited            unlimited            bytes     \n");
    machine.file("proc/self/environ", std::string("HOME=/root\0PATH=/usr/bin\0", 25));
    machine.file("proc/self/mountinfo", "22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw\n"
                                        "23 22 0:21 / /proc rw,nosuid shared:12 - proc proc rw\n");
    machine.file("proc/self/cgroup", "0::/user.slice/hbf.scope\n");
    const std::string controllers = "cpuset cpu io memory hugetlb pids\n";
    machine.file("sys/fs/cgroup/cgroup.controllers", controllers);
    for (const std::string &group : {std::string("sys/fs/cgroup/user.slice/"), own_group}) {
        machine.file(group + "cgroup.controllers", controllers).file(group + "cgroup.events", "populated 1\n");
        for (const char *limit : {"memory.max", "memory.high", "memory.swap.max", "pids.max", "hugetlb.2MB.max"})
            machine.file(group + limit, "max\n");
        machine.file(group + "io.max", "").file(group + "cpuset.mems.effective", "0-2\n");
    }
}

void kernel(FakeMachine &machine) {
    machine.file("proc/sys/kernel/osrelease", "6.12.9-test\n");
    machine.file("proc/version", "Linux version 6.12.9-test (build@test) (gcc 12.2.0) #1 SMP PREEMPT_DYNAMIC\n");
    machine.file("proc/cmdline", "BOOT_IMAGE=/vmlinuz root=/dev/nvme0n1p2 quiet iommu=pt init_on_alloc=0\n");
    machine.file("boot/config-6.12.9-test", "CONFIG_DEVICE_PRIVATE=y\nCONFIG_HMM_MIRROR=y\nCONFIG_PCI_P2PDMA=y\n");
    machine.file("dev/kmsg", "5,0,0,-;Linux version 6.12.9-test\n6,1,10,-;Command line: quiet\n SUBSYSTEM=x\n");
    const std::string clock = "sys/devices/system/clocksource/clocksource0/";
    machine.file(clock + "current_clocksource", "tsc\n").file(clock + "available_clocksource", "tsc hpet acpi_pm\n");
}

void drives(FakeMachine &machine) {
    const std::string queue = "sys/block/nvme0n1/queue/", drive = "sys/class/nvme/nvme0/";
    machine.file(queue + "write_cache", "write through\n");
    machine.file(queue + "max_sectors_kb", "1280\n").file(queue + "max_hw_sectors_kb", "2048\n");
    machine.file(drive + "state", "live\n").file(drive + "model", "TEST SSD 4TB                            \n");
    machine.file(drive + "firmware_rev", "TEST1.0 \n");
    machine.file(drive + "hwmon2/temp1_input", "40850\n").file(drive + "hwmon2/temp1_crit", "84850\n");
    machine.file("sys/module/nvme_core/parameters/io_timeout", "30\n");
}

void expander(FakeMachine &machine) {
    machine.dax("dax0.0", uint64_t{268435456} * 1024, 2, "kmem");
    const std::string mem = "sys/bus/cxl/devices/mem0/", region = "sys/bus/cxl/devices/region0/";
    machine.file(mem + "ram/size", "0x4000000000\n").file(mem + "ram/qos_class", "0\n").file(mem + "numa_node", "0\n");
    machine.file(region + "size", "0x4000000000\n").file(region + "mode", "ram\n").file(region + "commit", "1\n");
    machine.file(region + "interleave_ways", "1\n").file(region + "interleave_granularity", "4096\n");
    machine.file("sys/devices/system/memory/auto_online_blocks", "online_movable\n");
}

void host(FakeMachine &machine) {
    machine.basics();
    memory(machine);
    process(machine);
    kernel(machine);
    drives(machine);
    expander(machine);
}

// Files that are there and fail to be read, for root too.
void unreadable(FakeMachine &machine) {
    for (const char *path : {"proc/sys/kernel/numa_balancing", "sys/kernel/mm/ksm/run",
                             "sys/devices/system/edac/mc/mc0/ue_count", "sys/kernel/iommu_groups/3/type", "proc/self/limits",
                             "sys/block/nvme0n1/queue/scheduler", "sys/bus/pci/devices/0000:02:00.0/max_link_width"})
        machine.remove(path).folder(path);
}

} // namespace

void good_machine(FakeMachine &machine) {
    host(machine);
    devices(machine, "0x10de", 0x10de, "nvidia");
    machine.file("proc/driver/nvidia/version",
                 "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build\n"
                 "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n");
    machine.file("proc/driver/nvidia/params", "ResmanDebugLevel: 4294967295\n");
    machine.file("usr/lib/x86_64-linux-gnu/libcuda.so.570.86.15", "")
        .link("usr/lib/x86_64-linux-gnu/libcuda.so.1", "libcuda.so.570.86.15");
    machine.file("usr/local/cuda-12.8/version.json",
                 "{\n  \"cuda\" : {\n    \"name\" : \"CUDA SDK\",\n    \"version\" : \"12.8.1\"\n  }\n}\n");
    machine.file("proc/driver/nvidia-fs/stats", "GDS Version: 1.13.1.3\nNVFS statistics(ver: 4.0)\n");
    machine.file("etc/cufile.json", "{\n  \"properties\": {\n    // \"allow_compat_mode\": true,\n"
                                    "    \"allow_compat_mode\": false\n  }\n}\n");
    machine.folder("sys/module/nvidia_peermem");
}

void good_machine_of_other_maker(FakeMachine &machine) {
    host(machine);
    devices(machine, "0x1002", 0x1002, "amdgpu");
    for (const char *address : {"0000:02:00.0", "0000:03:00.0"}) {
        machine.file(pci + address + "/ras/umc_err_count", "ue: 0\nce: 0\n");
        machine.file(pci + address + "/current_memory_partition", "NPS1\n");
        machine.file(pci + address + "/current_compute_partition", "SPX\n");
    }
    machine.file("sys/module/amdgpu/version", "6.10.5\n").file("opt/rocm-6.3.0/.info/version", "6.3.0-39\n");
    machine.folder("sys/module/amdkfd");
}

const std::vector<Scene> &scenes() {
    using enum Verdict;
    static const std::vector<Scene> all = {
        {"good", [](FakeMachine &) {}, {}},
        {"iommu-redirect",
         [](FakeMachine &m) {
             m.file(pci + "0000:01:00.0/config", config(0x1000, true));
             for (const char *group : {"3", "4"})
                 m.file(std::string("sys/kernel/iommu_groups/") + group + "/type", "DMA-FQ\n");
             m.file("proc/cmdline", "BOOT_IMAGE=/vmlinuz quiet intel_iommu=on init_on_alloc=0\n");
         },
         {{"iommu.translation", fail}, {"pci.acs_redirect", warn}}},
        {"narrow-slot",
         [](FakeMachine &m) { m.file(pci + "0000:03:00.0/current_link_width", "4\n"); },
         {{"pci.link_width", warn}}},
        {"numa-balancing",
         [](FakeMachine &m) { m.file("proc/sys/kernel/numa_balancing", "1\n"); },
         {{"numa.balancing", warn}}},
        {"small-memlock",
         [](FakeMachine &m) {
             m.file("proc/self/status", "Name:\thbf\nUid:\t0\t0\t0\t0\nCapEff:\t0000000000000000\n");
             m.file("proc/self/limits", "Max open files            65536      524288      files\n"
                                        "Max locked memory         65536      65536       bytes\n");
         },
         {{"limits.memlock", warn}}},
        {"cgroup-limit",
         [](FakeMachine &m) {
             m.file("sys/fs/cgroup/user.slice/memory.max", "8589934592\n").file(own_group + "pids.max", "64\n");
             m.file(own_group + "io.max", "259:0 rbps=max wbps=1048576 riops=max wiops=max\n");
             m.file(own_group + "cpuset.mems.effective", "0-1\n");
         },
         {{"cgroup.memory_max", warn}, {"cgroup.pids", warn}, {"cgroup.io", warn}, {"cgroup.nodes", warn}}},
        {"old-kernel",
         [](FakeMachine &m) {
             m.file("proc/sys/kernel/osrelease", "5.4.0-test\n")
                 .file("proc/version", "Linux version 5.4.0-test (x) #1 SMP\n");
             m.file("boot/config-5.4.0-test", "CONFIG_DEVICE_PRIVATE=y\nCONFIG_HMM_MIRROR=y\nCONFIG_PCI_P2PDMA=y\n");
             m.remove("proc/sys/kernel/io_uring_disabled");
         },
         {{"kernel.version", fail},
          {"kernel.io_uring", not_applicable},
          {"cxl.kernel", fail},
          {"storage.direct_alignment", warn}}},
        {"ecc-pending",
         [](FakeMachine &m) {
             m.file("sys/devices/system/edac/mc/mc0/ue_count", "2\n")
                 .file("sys/devices/system/edac/mc/mc0/ce_count", "17\n");
             m.file("dev/kmsg", "5,0,0,-;Linux version 6.12.9-test\n"
                                "4,1,10,-;NVRM: Xid (PCI:0000:02:00): 64, pid=1, Row Remapper error\n");
             m.file(pci + "0000:02:00.0/aer_dev_correctable", "RxErr 5\nTOTAL_ERR_COR 5\n");
         },
         {{"ecc.memory", fail}, {"ecc.kernel_log", fail}, {"pci.errors", warn}}},
        {"no-hugepages",
         [](FakeMachine &m) {
             const std::string pages = "sys/kernel/mm/hugepages/hugepages-2048kB/";
             m.file(pages + "nr_hugepages", "0\n").file(pages + "free_hugepages", "0\n");
             m.file("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
         },
         {{"memory.huge_pages", warn}, {"memory.thp", warn}}},
        {"container",
         [](FakeMachine &m) {
             m.file(".dockerenv", "").remove("dev/kmsg").remove("boot");
             m.file("proc/self/cgroup", "0::/\n").file("sys/fs/cgroup/cgroup.events", "populated 1\n");
             for (const char *limit : {"memory.high", "memory.swap.max", "pids.max", "hugetlb.2MB.max"})
                 m.file(std::string("sys/fs/cgroup/") + limit, "max\n");
             m.file("sys/fs/cgroup/memory.max", "17179869184\n").file("sys/fs/cgroup/io.max", "");
             m.file("sys/fs/cgroup/cpuset.mems.effective", "0-2\n");
             m.file("proc/self/mountinfo", "22 1 0:50 / / rw,relatime - overlay overlay rw,lowerdir=/x\n");
         },
         {{"host.container", warn},
          {"kernel.device_memory", cannot_tell},
          {"iommu.faults", cannot_tell},
          {"ecc.kernel_log", cannot_tell},
          {"cgroup.memory_max", warn},
          {"storage.filesystem", fail}}},
        {"virtual-machine",
         [](FakeMachine &m) {
             m.file("proc/cpuinfo", "processor\t: 0\nmodel name\t: Virtual CPU\nflags\t\t: fpu hypervisor sse2\n");
             m.file("sys/class/dmi/id/sys_vendor", "QEMU\n").remove("sys/devices/system/edac");
             m.file("sys/devices/system/clocksource/clocksource0/current_clocksource", "kvm-clock\n");
         },
         {{"host.virtual_machine", warn}, {"ecc.memory", cannot_tell}}},
        {"unreadable",
         unreadable,
         {{"numa.balancing", cannot_tell},
          {"memory.ksm", cannot_tell},
          {"ecc.memory", cannot_tell},
          {"iommu.translation", cannot_tell},
          {"limits.memlock", cannot_tell},
          {"limits.open_files", cannot_tell},
          {"storage.scheduler", cannot_tell},
          {"pci.link_width", cannot_tell}}},
        {"non-root",
         [](FakeMachine &m) {
             m.file("proc/self/status", "Name:\thbf\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\n");
             m.remove("dev/kmsg").folder("dev/kmsg");
             for (const char *address : {"0000:00:01.0", "0000:01:00.0", "0000:02:00.0", "0000:03:00.0", "0000:04:00.0"})
                 std::filesystem::resize_file(m.root() / (pci + address) / "config", 64); // what such a user may read
         },
         {{"host.privileges", warn},
          {"pci.acs_redirect", cannot_tell},
          {"pci.relaxed_ordering", cannot_tell},
          {"iommu.faults", cannot_tell},
          {"ecc.kernel_log", cannot_tell}}},
    };
    return all;
}

} // namespace hbf::tools::doctor
