// SPDX-License-Identifier: Apache-2.0
// A machine for tests: a folder with the files of sysfs and procfs that an inventory reads, gone when the object is.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

namespace hbf::test {

struct FakePci {
    std::string address, vendor, device, class_code; // "0000:3b:00.0", "0x10de", "0x2330", "0x030200"
    int numa_node = 0;
    std::string driver = {}; // "" none
    int iommu_group = -1;
    std::string speed = {}, max_speed = {}; // "16.0 GT/s PCIe"; "" no link
    int width = 0, max_width = 0;
};

struct FakeNode {
    int id = 0;
    std::string cpus; // "0-15", "" none
    uint64_t total_kib = 0, free_kib = 0;
    std::string distances = {};            // "10 21 31"
    int bandwidth_mbs = 0, latency_ns = 0; // 0: firmware says nothing
};

class FakeMachine {
public:
    FakeMachine() {
        std::string pattern = (place() / "hbf-machine-XXXXXX").string();
        if (!mkdtemp(pattern.data())) throw std::runtime_error("mkdtemp " + pattern);
        root_ = pattern;
    }
    ~FakeMachine() {
        std::error_code error;
        std::filesystem::remove_all(root_, error);
    }
    FakeMachine(const FakeMachine &) = delete;
    FakeMachine &operator=(const FakeMachine &) = delete;

    const std::filesystem::path &root() const { return root_; }

    FakeMachine &file(const std::filesystem::path &path, const std::string &text) {
        std::filesystem::create_directories((root_ / path).parent_path());
        std::ofstream out(root_ / path, std::ios::binary | std::ios::trunc);
        out << text;
        if (!out.flush()) throw std::runtime_error("cannot write " + (root_ / path).string());
        return *this;
    }
    FakeMachine &folder(const std::filesystem::path &path) {
        std::filesystem::create_directories(root_ / path);
        return *this;
    }
    FakeMachine &link(const std::filesystem::path &path, const std::filesystem::path &target) {
        std::filesystem::create_directories((root_ / path).parent_path());
        std::filesystem::create_symlink(target, root_ / path);
        return *this;
    }
    FakeMachine &remove(const std::filesystem::path &path) {
        std::filesystem::remove_all(root_ / path);
        return *this;
    }

    FakeMachine &pci(const FakePci &device) {
        const auto at = std::filesystem::path("sys/bus/pci/devices") / device.address;
        file(at / "vendor", device.vendor + "\n").file(at / "device", device.device + "\n");
        file(at / "class", device.class_code + "\n").file(at / "numa_node", std::to_string(device.numa_node) + "\n");
        if (!device.driver.empty()) link(at / "driver", "../../../../bus/pci/drivers/" + device.driver);
        if (device.iommu_group >= 0) {
            const std::string group = std::to_string(device.iommu_group);
            link(at / "iommu_group", "../../../../kernel/iommu_groups/" + group);
            file("sys/kernel/iommu_groups/" + group + "/type", "DMA-FQ\n");
        }
        if (!device.speed.empty()) {
            file(at / "current_link_speed", device.speed + "\n").file(at / "max_link_speed", device.max_speed + "\n");
            file(at / "current_link_width", std::to_string(device.width) + "\n");
            file(at / "max_link_width", std::to_string(device.max_width) + "\n");
        }
        return *this;
    }

    FakeMachine &node(const FakeNode &node) {
        const std::string id = std::to_string(node.id);
        const auto at = std::filesystem::path("sys/devices/system/node") / ("node" + id);
        file(at / "cpulist", node.cpus + "\n");
        file(at / "meminfo", "Node " + id + " MemTotal:       " + std::to_string(node.total_kib) + " kB\nNode " + id +
                                 " MemFree:        " + std::to_string(node.free_kib) + " kB\n");
        if (!node.distances.empty()) file(at / "distance", node.distances + "\n");
        if (node.bandwidth_mbs) file(at / "access0/initiators/read_bandwidth", std::to_string(node.bandwidth_mbs) + "\n");
        if (node.latency_ns) file(at / "access0/initiators/read_latency", std::to_string(node.latency_ns) + "\n");
        return *this;
    }

    FakeMachine &dax(const std::string &name, uint64_t size, int target_node, const std::string &driver) {
        const auto at = std::filesystem::path("sys/bus/dax/devices") / name;
        file(at / "size", std::to_string(size) + "\n").file(at / "target_node", std::to_string(target_node) + "\n");
        if (!driver.empty()) link(at / "driver", "../../../bus/dax/drivers/" + driver);
        return *this;
    }

    // What every machine has: kernel, CPU, memory, limits, one disk.
    FakeMachine &basics() {
        file("proc/sys/kernel/osrelease", "6.8.0-test\n");
        file("proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555555\n");
        file("proc/cpuinfo", "processor\t: 0\nmodel name\t: Test CPU 9000\nflags\t\t: fpu sse2\n\nprocessor\t: 1\n");
        file("proc/meminfo", "MemTotal:       268435456 kB\nMemFree:        134217728 kB\nMemAvailable:   201326592 kB\n");
        file("proc/cmdline", "root=/dev/nvme0n1p2 quiet intel_iommu=on iommu=pt\n");
        file("proc/self/limits", "Limit                     Soft Limit           Hard Limit           Units     \n"
                                 "Max open files            1024                 524288               files     \n"
                                 "Max locked memory         8388608              8388608              bytes     \n");
        file("proc/self/status", "Name:\ttest\nCpus_allowed_list:\t0-31\nMems_allowed_list:\t0-2\n");
        file("proc/sys/vm/overcommit_memory", "0\n").file("proc/sys/vm/swappiness", "60\n");
        file("proc/sys/kernel/numa_balancing", "1\n").file("proc/sys/kernel/io_uring_disabled", "0\n");
        file("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
        file("sys/kernel/mm/transparent_hugepage/defrag", "always defer [madvise] never\n");
        file("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "512\n");
        file("sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "500\n");
        const std::filesystem::path cache = "sys/devices/system/cpu/cpu0/cache";
        file(cache / "index0/level", "1\n").file(cache / "index0/type", "Data\n").file(cache / "index0/size", "32K\n");
        file(cache / "index3/level", "3\n").file(cache / "index3/type", "Unified\n").file(cache / "index3/size", "65536K\n");
        const std::filesystem::path disk = "sys/block/nvme0n1";
        file(disk / "size", "7501476528\n").file(disk / "queue/logical_block_size", "512\n");
        file(disk / "queue/rotational", "0\n").file(disk / "queue/scheduler", "[none] mq-deadline\n");
        file(disk / "device/model", "TEST SSD 4TB            \n").file(disk / "device/numa_node", "1\n");
        file("sys/block/loop0/size", "0\n");
        folder("sys/kernel/iommu_groups").folder("sys/bus/pci/devices");
        return *this;
    }

    // Two sockets, each with a DRAM node, and a CXL expander that shows as node 2 without CPUs.
    FakeMachine &two_sockets_with_cxl() {
        basics();
        file("proc/meminfo", "MemTotal:       536870912 kB\nMemFree:        134217728 kB\nMemAvailable:   201326592 kB\n");
        node({0, "0-15", 134217728, 67108864, "10 21 24", 153600, 100});
        node({1, "16-31", 134217728, 67108864, "21 10 34", 153600, 100});
        node({2, "", 268435456, 260000000, "24 34 10", 28000, 290});
        dax("dax0.0", uint64_t{268435456} * 1024, 2, "kmem");
        const std::filesystem::path expander = "sys/bus/cxl/devices/mem0";
        file(expander / "ram/size", "0x4000000000\n")
            .file(expander / "pmem/size", "0x0\n")
            .file(expander / "numa_node", "0\n");
        const std::filesystem::path region = "sys/bus/cxl/devices/region0";
        file(region / "size", "0x4000000000\n").file(region / "mode", "ram\n").file(region / "resource", "0x2080000000\n");
        file("sys/devices/system/memory/block_size_bytes", "80000000\n");
        link("sys/devices/system/memory/memory65/node2", "../../node/node2");
        pci({"0000:00:01.0", "0x8086", "0x347a", "0x060400", 0, "pcieport", 1, "16.0 GT/s PCIe", "16.0 GT/s PCIe", 16, 16});
        pci({"0000:3b:00.0", "0x1234", "0xabcd", "0x030200", 1, "vendor_drv", 7, "8.0 GT/s PCIe", "16.0 GT/s PCIe", 8, 16});
        pci({"0000:00:1f.0", "0x8086", "0xa1c1", "0x060100", -1});
        return *this;
    }

private:
    // Hundreds of small files: in memory where that is possible.
    static std::filesystem::path place() {
        const bool in_memory = !std::getenv("TMPDIR") && access("/dev/shm", W_OK | X_OK) == 0;
        return in_memory ? "/dev/shm" : std::filesystem::temp_directory_path();
    }

    std::filesystem::path root_;
};

} // namespace hbf::test
