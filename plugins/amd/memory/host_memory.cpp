// SPDX-License-Identifier: Apache-2.0
#include "plugins/amd/memory/host_memory.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/host/memory_room.hpp"
#include "core/host/sections.hpp"
#include "memory/placement.hpp" // of the host plugin

namespace hbf::amd {
namespace {

uint64_t known(uint64_t bytes) {
    return bytes == UINT64_MAX ? 0 : bytes; // nothing known of the memory: nothing to promise
}

} // namespace

HostMemory host_memory(const std::string &root, const sdk::Log &log) {
    const bool elsewhere = !root.empty() && root != "/";
    std::vector<std::string> problems;
    host::Reader reader(elsewhere ? root : "/", problems);
    Inventory machine;
    host::read_nodes(reader, machine);
    host::read_cxl_dax(reader, machine);
    HostMemory out;
    out.bytes = known(host::memory_room(reader).bytes);
    if (elsewhere) {
        std::vector<std::string> ignored;
        host::Reader here("/", ignored);
        out.bytes = std::min(out.bytes, known(host::memory_room(here).bytes));
    }
    out.bytes /= 4; // the rest is everybody else's
    for (const NumaNode &node : machine.nodes) {
        if (!node.cxl || node.memory_bytes == 0) continue;
        CxlNode one{node.id, std::min(node.free_bytes, node.memory_bytes) / 16 * 15, false, {}};
        if (elsewhere) {
            // A test's machine: its nodes are not this kernel's.
            one.bytes = std::min(one.bytes, out.bytes);
            one.why = fmt::format("the machine below {} is not this one", root);
        } else if (const host::BindProbe probe = host::probe_node(node.id); probe.works) {
            one.placed = true;
        } else {
            log.warning(fmt::format("CXL memory of NUMA node {} is left out: {}", node.id, probe.why));
            continue;
        }
        out.cxl.push_back(one);
    }
    for (const std::string &problem : problems) log.warning(problem);
    return out;
}

} // namespace hbf::amd
