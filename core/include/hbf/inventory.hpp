// SPDX-License-Identifier: Apache-2.0
// What this machine has, read without any vendor's code: sysfs and procfs below an injectable root.
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
    std::vector<int> cpus; // empty: a node without CPUs (CXL or other far memory)
    uint64_t memory_bytes = 0, free_bytes = 0;
    std::vector<int> distances;          // to node 0, 1, ... as the firmware says
    std::optional<double> bandwidth_gbs; // from memory attributes (HMAT), 1e9 bytes/s
    std::optional<double> latency_ns;
    bool cxl = false; // backed by a CXL or DAX region
};

// A CXL memory expander, or a region composed of such.
struct CxlDevice {
    std::string name, type; // "mem0" "memory", "region0" "region"
    uint64_t ram_bytes = 0, persistent_bytes = 0;
    int numa_node = -1; // of a region: the node its memory appears in; of an expander: the node it is attached to
};

struct DaxDevice {
    std::string name, mode; // "dax0.0"; "devdax", "system-ram" (its memory is NUMA node target_node), "" no driver bound
    uint64_t size = 0;
    int target_node = -1;
};

struct BlockDevice {
    std::string name, model, scheduler; // "nvme0n1"; drives without a medium are left out
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
    std::vector<PciDevice> pci;                         // by address
    std::vector<NumaNode> nodes;                        // by id; empty where the kernel has no NUMA support
    std::vector<CxlDevice> cxl;
    std::vector<DaxDevice> dax;
    std::vector<BlockDevice> blocks;
    // Limits ("unlimited" or bytes or a count): memlock, nofile, cgroup_memory_max, cgroup_memory_high (both "max" if there
    // is none, else the tightest on the way up), cgroup_memory_current, cpuset_cpus, cpuset_mems. Memory: mem_total,
    // mem_available (bytes), thp, thp_defrag, hugepages_2048kB, hugepages_2048kB_free (and other sizes), numa_balancing,
    // overcommit_memory, swappiness. Platform: iommu ("off" or the groups' types), iommu_cmdline, acs_redirect ("none" or
    // the bridges that send peer traffic upstream), edac_ce, edac_ue (errors corrected and not, all controllers),
    // aer_correctable, aer_nonfatal, aer_fatal (PCI Express errors, all devices), io_uring_disabled.
    std::map<std::string, Setting> settings;
    std::vector<std::string> problems; // what is there but could not be read or made sense of, with path and reason
};

// Reads everything below `root` ("/" in production), in bounded time whatever lies there. Missing and broken parts are noted
// in `problems`, never fatal; only a root that is no directory is an error.
HBF_API Result<Inventory> read_inventory(const std::filesystem::path &root = "/");

} // namespace hbf
