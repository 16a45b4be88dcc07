// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/host/parse.hpp"
#include "tools/doctor/check.hpp"
#include "tools/doctor/cxl.hpp"

namespace hbf::tools::doctor {
namespace {

void balancing(Look &look) {
    const std::string path = "proc/sys/kernel/numa_balancing";
    const auto mode = look.word(path, {"0", "1", "2", "3"});
    if (!mode) return look.exists(path) ? void() : look.not_applicable("this kernel does not balance between NUMA nodes");
    if (*mode == "0") return look.pass("pages stay where they were put");
    look.warn(*mode == "1" ? "the kernel moves pages towards the processors that touch them"
                           : fmt::format("the kernel promotes pages between memory tiers itself (mode {})", *mode));
    look.fix_sysctl("kernel.numa_balancing", "0", "pages stay on the node they were put on");
}

void demotion(Look &look) {
    const std::string path = "sys/kernel/mm/numa/demotion_enabled";
    const auto on = look.word(path, {"true", "false", "1", "0"});
    if (!on) return look.exists(path) ? void() : look.not_applicable("this kernel does not demote pages to slower nodes");
    if (*on == "false" || *on == "0") return look.pass("the kernel demotes no pages to slower nodes");
    look.warn("the kernel demotes pages to slower nodes itself, against whoever places them");
    look.fix("echo false > /" + path, "pages are reclaimed instead of moved to a slower node");
}

// Memory without processors: far memory that is a tier, or a device's own that nobody should take by accident.
void nodes_without_cpus(Look &look) {
    const std::string folder = "sys/devices/system/node";
    if (!look.exists(folder)) return look.not_applicable("this kernel has no NUMA support");
    const auto far = far_nodes(look);
    size_t nodes = 0;
    bool strange = false;
    for (const std::string &name : look.entries(folder)) {
        if (!name.starts_with("node") || !host::parse_unsigned(std::string_view(name).substr(4))) continue;
        ++nodes;
        const std::string at = below(folder, name);
        const auto list = look.need_text(at + "/cpulist");
        if (!list) continue;
        const auto cpus = host::parse_list(*list);
        if (!cpus) {
            look.garbled(at + "/cpulist", "a list of processors");
            continue;
        }
        if (!cpus->empty()) continue;
        const auto meminfo = look.need_text(at + "/meminfo", Look::Form::text, Look::Show::no);
        if (!meminfo) continue;
        const auto bytes = host::meminfo_bytes(*meminfo, "MemTotal");
        if (!bytes) {
            look.cannot_tell(look.full(at + "/meminfo") + ": no MemTotal in it");
            continue;
        }
        if (*bytes == 0 || std::find(far.begin(), far.end(), name) != far.end()) continue;
        strange = true;
        look.warn(
            fmt::format("{} has {} MiB and no processors, and no CXL or DAX device stands behind it", name, *bytes >> 20));
    }
    if (nodes == 0) return look.cannot_tell(look.full(folder) + ": no node in it");
    if (!strange) look.pass(fmt::format("of {} nodes, those without processors are CXL or DAX memory", nodes));
}

constexpr std::array checks = {
    Check{"numa.balancing", "the kernel moves no pages between nodes", "proc/sys/kernel/numa_balancing",
          "balancing unmaps pages to see who touches them, and moves them: latency jumps, and placement is undone",
          "set kernel.numa_balancing to 0", balancing},
    Check{"numa.demotion", "the kernel does not tier memory itself", "sys/kernel/mm/numa/demotion_enabled",
          "two managers of the same tiers work against each other", "switch demotion off", demotion},
    Check{"numa.nodes_without_cpus", "every node without processors is known memory",
          "sys/devices/system/node/node*/cpulist, meminfo, sys/bus/dax, sys/bus/cxl",
          "an accelerator's own memory can appear as such a node; ordinary allocations that spill over take it away",
          "bind strictly (numactl --membind), or keep the driver from giving its memory to the kernel", nodes_without_cpus},
};

} // namespace

std::span<const Check> numa_checks() {
    return checks;
}

} // namespace hbf::tools::doctor
