// SPDX-License-Identifier: Apache-2.0
// The host's memory as far as a device may use it: how much may be pinned, and which NUMA nodes are CXL memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hbf/sdk/log.hpp"

namespace hbf::amd {

struct CxlNode {
    int id = -1;
    uint64_t bytes = 0;  // that may be taken
    bool placed = false; // pages can be bound to the node, tried with one
    std::string why;     // where not
};

struct HostMemory {
    uint64_t bytes = 0; // that may be pinned, by all devices together
    std::vector<CxlNode> cxl;
};

// Of the machine below `root`. No more than this kernel has room for, whatever that machine is said to have.
HostMemory host_memory(const std::string &root, const sdk::Log &log);

} // namespace hbf::amd
