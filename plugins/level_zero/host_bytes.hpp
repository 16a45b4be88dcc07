// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace hbf::level_zero {

// The host's memory, as /proc/meminfo under `root` says; what the smallest host has where it says nothing.
inline uint64_t host_bytes(const std::string &root) {
    std::ifstream in((root == "/" ? std::string() : root) + "/proc/meminfo");
    std::string name, rest;
    for (uint64_t kib = 0; in >> name >> kib && std::getline(in, rest);)
        if (name == "MemTotal:") return kib * 1024;
    return uint64_t{1} << 30;
}

} // namespace hbf::level_zero
