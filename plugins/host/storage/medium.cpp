// SPDX-License-Identifier: Apache-2.0
#include "medium.hpp"

#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <sys/sysmacros.h>

namespace hbf::host {
namespace {

struct Mount {
    std::string point, file_system, source;
};

// A line of mountinfo: "36 35 98:0 /root /point options... - type source super-options".
bool find_mount(dev_t device, Mount &out) {
    const std::string wanted = fmt::format("{}:{}", ::major(device), ::minor(device));
    std::ifstream in("/proc/self/mountinfo");
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string id, parent, numbers, root, point, word;
        if (!(words >> id >> parent >> numbers >> root >> point) || numbers != wanted) continue;
        while (words >> word && word != "-") {
        }
        if (words >> out.file_system >> out.source) {
            out.point = point;
            return true;
        }
    }
    return false;
}

} // namespace

int numa_node_of_block(dev_t device) {
    const std::string base = fmt::format("/sys/dev/block/{}:{}/", ::major(device), ::minor(device));
    for (const char *place :
         {"device/numa_node", "device/device/numa_node", "../device/numa_node", "../device/device/numa_node"}) {
        std::ifstream in(base + place); // NVMe keeps it one level deeper, a partition one level up
        if (int node = -1; in >> node) return node;
    }
    return -1;
}

Medium medium_of(dev_t device) {
    Medium medium;
    Mount mount;
    if (find_mount(device, mount)) {
        medium.file_system = mount.file_system;
        medium.source = mount.source;
    }
    medium.numa_node = numa_node_of_block(device);
    return medium;
}

std::string mount_point_of(dev_t device) {
    Mount mount;
    return find_mount(device, mount) ? mount.point : "";
}

} // namespace hbf::host
