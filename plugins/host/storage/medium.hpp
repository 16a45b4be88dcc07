// SPDX-License-Identifier: Apache-2.0
// What lies under a directory: file system, device, NUMA node.
#pragma once

#include <string>

#include <sys/types.h>

namespace hbf::host {

struct Medium {
    std::string source;      // "/dev/nvme0n1p2", "" unknown
    std::string file_system; // "ext4", "" unknown
    int numa_node = -1;
};

Medium medium_of(dev_t device);       // st_dev of a file
int numa_node_of_block(dev_t device); // -1 unknown

// Where a block device is mounted, "" nowhere.
std::string mount_point_of(dev_t device);

} // namespace hbf::host
