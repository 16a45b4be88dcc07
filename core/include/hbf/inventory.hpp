// SPDX-License-Identifier: Apache-2.0
// What this machine has, read without any vendor's code: sysfs, procfs and hwloc below an injectable root.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hbf/status.hpp"

namespace hbf {

struct PciLink {
    double current_gts = 0, max_gts = 0; // GT/s per lane, 0 unknown
    int current_width = 0, max_width = 0;
};

struct PciDevice {
    std::string address; // "0000:3b:00.0"
    uint16_t vendor = 0, device = 0;
    uint32_t class_code = 0; // 24 bit: class, subclass, interface
    int numa_node = -1;      // -1 unknown
    std::string driver;      // bound kernel driver, "" if none
    int iommu_group = -1;
    PciLink link;
};

struct NumaNode {
    int id = 0;
    std::vector<int> cpus;         // empty: a node without CPUs (CXL or other far memory)
    uint64_t memory_bytes = 0, free_bytes = 0;
    std::vector<int> distances;    // to node 0, 1, ... as the firmware says
    std::optional<double> bandwidth_gbs; // from memory attributes (HMAT), 1e9 bytes/s
    std::optional<double> latency_ns;
    bool cxl = false;              // backed by a CXL or DAX region
};

struct DaxDevice {
    std::string name, mode; // "dax0.0", "devdax" | "system-ram"
    uint64_t size = 0;
    int target_node = -1;
};

struct BlockDevice {
    std::string name, model, scheduler; // "nvme0n1"
    uint64_t size = 0;
    uint32_t logical_block = 0;
    bool rotational = false;
    int numa_node = -1;
};

// One limit or kernel setting; a value that could not be read is empty and says why: never guessed.
struct Setting {
    std::optional<std::string> value;
    std::string source; // path or call it came from
    std::string error;  // why value is empty
};

struct Inventory {
    std::filesystem::path root;
    std::string kernel, boot_id, cpu_model, hypervisor; // hypervisor "" on bare metal
    uint64_t last_level_cache_bytes = 0;                // 0 unknown
    std::vector<PciDevice> pci;
    std::vector<NumaNode> nodes;
    std::vector<DaxDevice> dax;
    std::vector<BlockDevice> blocks;
    std::map<std::string, Setting> settings; // "memlock", "thp", "numa_balancing", "cgroup_memory_max", "iommu", "edac_ue"...
    std::vector<std::string> problems;       // what could not be read, each with its path and reason
};

// Reads everything below `root` ("/" in production). Missing parts are noted in `problems`, never fatal; only a root that
// does not exist is an error.
HBF_API Result<Inventory> read_inventory(const std::filesystem::path &root = "/");

} // namespace hbf
