// SPDX-License-Identifier: Apache-2.0
// What libnuma tells about the node of a CPU.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include <dirent.h>

namespace hbf::bundle {

// -1 where there is no such CPU or the kernel knows no nodes.
inline int node_of_cpu(int cpu) {
    const std::string path = "/sys/devices/system/cpu/cpu" + std::to_string(cpu); // its node is a link there, "node0"
    const std::unique_ptr<DIR, int (*)(DIR *)> folder(opendir(path.c_str()), closedir);
    if (!folder) return -1;
    while (const dirent *entry = readdir(folder.get())) {
        const char *number = entry->d_name + 4;
        if (std::strncmp(entry->d_name, "node", 4) != 0 || *number == '\0') continue;
        char *end = nullptr;
        const long node = std::strtol(number, &end, 10);
        if (*end == '\0' && node >= 0) return static_cast<int>(node);
    }
    return -1;
}

} // namespace hbf::bundle
