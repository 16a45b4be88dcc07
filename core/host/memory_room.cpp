// SPDX-License-Identifier: Apache-2.0
#include "core/host/memory_room.hpp"

#include <fmt/format.h>

#include "core/host/parse.hpp"

namespace hbf::host {

MemoryRoom memory_room(Reader &reader, int node) {
    MemoryRoom room;
    if (const auto text = reader.text("proc/meminfo")) {
        if (const auto available = meminfo_bytes(*text, "MemAvailable")) room.limit(*available, "MemAvailable");
    }
    limit_by_cgroup(reader, room);
    if (node >= 0) {
        const auto text =
            reader.text(std::filesystem::path("sys/devices/system/node") / fmt::format("node{}", node) / "meminfo");
        if (text) {
            const auto free = meminfo_bytes(*text, "MemFree");
            const uint64_t cache =
                meminfo_bytes(*text, "Active(file)").value_or(0) + meminfo_bytes(*text, "Inactive(file)").value_or(0);
            if (free) room.limit(*free + cache / 2, fmt::format("NUMA node {}", node));
        }
    }
    return room;
}

} // namespace hbf::host
