// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor/cxl.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/common/version_range.hpp"
#include "core/host/parse.hpp"
#include "tools/doctor/check.hpp"
#include "tools/doctor/kernel_facts.hpp"

namespace hbf::tools::doctor {
namespace {

const std::string bus = "sys/bus/cxl/devices", dax_bus = "sys/bus/dax/devices";

void kernel(Look &look) {
    if (!any_cxl(look)) return;
    const auto version = kernel_version(look);
    if (!version) return;
    if (version_in_range("<6.0", *version))
        return look.fail(fmt::format("kernel {} cannot make CXL regions (from 6.0)", *version));
    if (version_in_range("<6.3", *version))
        return look.warn(fmt::format("kernel {} cannot make regions of volatile memory (from 6.3)", *version));
    if (version_in_range("<6.9", *version))
        return look.warn(fmt::format("kernel {} cannot interleave by weight (from 6.9)", *version));
    look.pass(fmt::format("kernel {} makes regions and interleaves by weight", *version));
}

// All targets of an interleaved region give the same share: the smallest and slowest one decides.
void region(Look &look) {
    if (!any_cxl(look)) return;
    const auto regions = numbered(look, bus, "region");
    if (regions.empty()) return look.not_applicable("no CXL region: firmware mapped the memory, or nobody did");
    std::vector<uint64_t> sizes;
    for (const std::string &name : numbered(look, bus, "mem"))
        if (const auto size = look.need_number(below(bus, name, "ram/size"))) sizes.push_back(*size);
    const bool alike = std::adjacent_find(sizes.begin(), sizes.end(), std::not_equal_to<>()) == sizes.end();
    for (const std::string &name : regions) {
        const std::string at = below(bus, name, "");
        const auto mode = look.need_word(at + "mode", {"ram", "pmem", "none"});
        const auto ways = look.need_number(at + "interleave_ways");
        const auto granularity = look.need_number(at + "interleave_granularity");
        const auto committed = look.need_word(at + "commit", {"0", "1"});
        if (!mode || !ways || !granularity || !committed) continue;
        if (*ways == 0 || *ways > 16 || (*ways > 1 && *granularity < 256))
            look.garbled(at + "interleave_ways", "1 to 16");
        else if (*committed == "0")
            look.warn(fmt::format("{} is not committed: its memory is not there yet", name));
        else if (*mode != "ram")
            look.warn(fmt::format("{} is of mode {}: no tier of volatile memory", name, *mode));
        else if (*ways > 1 && !alike)
            look.warn(fmt::format("{} interleaves over {} devices of unequal size", name, *ways));
        else
            look.pass(fmt::format("{}: {} ways of {} bytes", name, *ways, *granularity));
    }
}

void dax(Look &look) {
    if (!any_cxl(look)) return;
    const auto devices = numbered(look, dax_bus, "dax");
    if (devices.empty()) return look.not_applicable("no DAX device");
    for (const std::string &name : devices) {
        const auto size = look.need_number(below(dax_bus, name, "size"));
        const std::string driver = look.link_name(below(dax_bus, name, "driver"));
        look.seen(look.full(below(dax_bus, name, "driver")), driver.empty() ? "(none)" : driver);
        if (!size) continue;
        if (*size == 0)
            look.warn(name + " has no memory");
        else if (driver == "kmem")
            look.pass(name + " is a NUMA node (system-ram)");
        else if (driver == "device_dax")
            look.pass(name + " is mapped as a device (devdax)");
        else
            look.warn(fmt::format("{}: {} driver makes its memory usable", name, driver.empty() ? "no" : "an unknown"));
        if (driver.empty())
            look.fix("daxctl reconfigure-device --mode=system-ram " + name, "its memory becomes a NUMA node");
    }
}

void online(Look &look) {
    if (!any_cxl(look)) return;
    const std::string file = "sys/devices/system/memory/auto_online_blocks";
    const auto policy = look.need_word(file, {"offline", "online", "online_kernel", "online_movable"});
    if (!policy) return;
    if (*policy == "online_movable") return look.pass("new memory can be given back (online_movable)");
    look.warn(*policy == "offline"
                  ? "new memory stays offline until somebody asks for it"
                  : fmt::format("new memory is taken by the kernel itself ({}) and cannot be given back", *policy));
    look.fix("echo online_movable > /" + file, "memory that is added from now on");
    look.fix_boot("memhp_default_state=online_movable", "the same");
}

void performance(Look &look) {
    if (!any_cxl(look)) return;
    const auto nodes = far_nodes(look);
    if (nodes.empty()) return look.not_applicable("no NUMA node is of CXL or DAX memory");
    for (const std::string &node : nodes) {
        const std::string at = "sys/devices/system/node/" + node;
        const std::string access = look.exists(at + "/access1", Look::Show::no) ? "/access1" : "/access0";
        const auto bandwidth = look.number(at + access + "/initiators/read_bandwidth");
        const auto latency = look.number(at + access + "/initiators/read_latency");
        if (bandwidth && latency && *bandwidth > 0 && *latency > 0)
            look.pass(fmt::format("{}: {} MB/s, {} ns", node, *bandwidth, *latency));
        else
            look.warn(fmt::format("{}: firmware does not say how fast it is (HMAT)", node));
    }
}

void quality(Look &look) {
    if (!any_cxl(look)) return;
    const auto devices = numbered(look, bus, "mem");
    if (devices.empty()) return look.not_applicable("no CXL memory device");
    for (const std::string &name : devices) {
        const auto size = look.need_number(below(bus, name, "ram/size"));
        if (!size) continue;
        if (*size == 0)
            look.not_applicable(name + " has no volatile memory");
        else if (const auto value = look.need_number(below(bus, name, "ram/qos_class")))
            look.pass(fmt::format("{}: class {}", name, *value));
    }
}

void health(Look &look) {
    if (!any_cxl(look)) return;
    const auto devices = numbered(look, bus, "mem");
    if (devices.empty()) return look.not_applicable("no CXL memory device");
    for (const std::string &name : devices)
        look.cannot_tell(fmt::format(
            "{}: health and poison list take a command to the device: cxl list -m {} -H --media-errors", name, name));
}

constexpr std::array checks = {
    Check{"cxl.kernel", "the kernel knows CXL memory well",
          "proc/sys/kernel/osrelease, proc/version, sys/bus/cxl, sys/bus/dax",
          "regions came with 6.0, those of volatile memory with 6.3, weighted interleaving with 6.9", "update the kernel",
          kernel},
    Check{"cxl.region", "regions are committed, volatile, of equal parts",
          "sys/bus/cxl/devices/region*/{mode,interleave_ways,interleave_granularity,commit}, mem*/ram/size",
          "an interleaved region is as slow as its slowest device and wastes what others have more",
          "make one region a kind of device: cxl create-region -t ram", region},
    Check{"cxl.dax", "DAX devices have a driver", "sys/bus/dax/devices/dax*/size, driver",
          "without one, nobody can use the memory", "daxctl reconfigure-device --mode=system-ram (or devdax)", dax},
    Check{
        "cxl.online", "added memory can be given back", "sys/devices/system/memory/auto_online_blocks",
        "memory that the kernel itself allocates from cannot be taken offline, so that regions cannot be changed without a "
        "reboot",
        "set auto_online_blocks to online_movable", online},
    Check{"cxl.performance", "firmware says how fast the memory is",
          "sys/devices/system/node/node*/access*/initiators/read_bandwidth, read_latency",
          "without it nobody can weigh tiers before they are measured", "measure with hbf bandwidth", performance},
    Check{"cxl.quality", "devices have a class of service", "sys/bus/cxl/devices/mem*/ram/qos_class",
          "the class that firmware expects decides which root decoder fits a device", "compare it with the root decoder's",
          quality},
    Check{"cxl.health", "CXL devices report no errors", "sys/bus/cxl/devices/mem*",
          "poisoned lines raise an exception when they are read", "cxl list -H --media-errors", health},
};

} // namespace

std::span<const Check> cxl_checks() {
    return checks;
}

} // namespace hbf::tools::doctor
