// SPDX-License-Identifier: Apache-2.0
// How much memory this process can still take before the kernel has to kill somebody.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/host/reader.hpp"

namespace hbf::host {

struct MemoryRoom {
    uint64_t bytes = UINT64_MAX; // UINT64_MAX: nothing that could be read limits it
    std::string limited_by;      // "MemAvailable", "NUMA node 1", "control group /sys/fs/cgroup/x/memory.max"

    void limit(uint64_t to, std::string by) {
        if (to >= bytes) return;
        bytes = to;
        limited_by = std::move(by);
    }
};

// The least of MemAvailable, what each control group on the way up leaves, and, where node >= 0, what that node has: free
// memory and half of its page cache. A limit that is there and cannot be read counts as no room: better refused than killed.
MemoryRoom memory_room(Reader &reader, int node = -1);

// What the control groups alone leave.
void limit_by_cgroup(Reader &reader, MemoryRoom &room);

} // namespace hbf::host
