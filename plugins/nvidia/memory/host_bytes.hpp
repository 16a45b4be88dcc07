// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

namespace hbf::nvidia {

// The host's memory, as /proc/meminfo under `root` says; what the smallest host has where it says nothing.
inline uint64_t host_bytes(const std::string &root) {
    std::ifstream in((root.empty() || root == "/" ? std::string() : root) + "/proc/meminfo");
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string name;
        uint64_t kib = 0;
        if (words >> name >> kib && name == "MemTotal:") return kib * 1024;
    }
    return uint64_t{1} << 30;
}

} // namespace hbf::nvidia
