// SPDX-License-Identifier: Apache-2.0
// Limits of this process's control group (version 2) and of those above it: each of them holds.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/host/parse.hpp"
#include "tools/doctor/check.hpp"
#include "tools/doctor/cxl.hpp"

namespace hbf::tools::doctor {
namespace {

const std::string mount = "sys/fs/cgroup", own = "proc/self/cgroup";

// Folders from this process's group up to the mount; a doubt if they cannot be told.
std::vector<std::string> groups(Look &look) {
    const auto text = look.need_text(own);
    if (!text) return {};
    for (const std::string_view line : host::lines(*text)) {
        if (!line.starts_with("0::/") || line.find("..") != std::string_view::npos) continue;
        std::string path = mount + std::string(line.substr(3));
        while (path.ends_with('/')) path.pop_back();
        // Inside a container the path is often the host's, while the mount shows the container's own group as its root.
        if (!look.exists(path)) path = mount;
        if (!look.exists(mount + "/cgroup.controllers")) break; // version 1
        std::vector<std::string> out;
        for (; path.size() >= mount.size(); path.erase(path.rfind('/'))) out.push_back(path);
        return out;
    }
    look.cannot_tell(look.full(own) + ": names no group of version 2; limits of version 1 are not looked at");
    return {};
}

bool is_controller(std::string_view word) {
    static constexpr std::string_view known[] = {"cpuset", "cpu",  "io",   "memory",     "hugetlb", "pids",
                                                 "rdma",   "misc", "dmem", "perf_event", "debug"};
    return std::find(std::begin(known), std::end(known), word) != std::end(known);
}

// The files `name` of every group that has this controller; empty answers are said here.
std::vector<std::string> limit_files(Look &look, std::string_view controller, const std::string &name) {
    std::vector<std::string> out;
    const auto folders = groups(look);
    bool told = true;
    for (const std::string &folder : folders) {
        if (folder == mount && !look.exists(mount + "/cgroup.events")) continue; // the root of all: it has no limits
        const auto controllers = look.need_text(folder + "/cgroup.controllers");
        const auto words = controllers ? host::words(*controllers) : std::vector<std::string_view>();
        if (!controllers || !std::all_of(words.begin(), words.end(), is_controller)) {
            if (controllers) look.garbled(folder + "/cgroup.controllers", "names of controllers");
            told = false;
            continue;
        }
        const std::string file = below(folder, name);
        if (std::find(words.begin(), words.end(), controller) != words.end()) {
            out.push_back(file);
        } else if (look.exists(file, Look::Show::no)) {
            look.cannot_tell(
                fmt::format("{} is there, though {} is none of its group's controllers", look.full(file), controller));
            told = false;
        }
    }
    if (out.empty() && told && !folders.empty())
        look.not_applicable(fmt::format("no control group above this process limits {}", controller));
    return out;
}

// The least of them; "max" is none. Nothing if there is nothing to judge; doubts are said.
std::optional<uint64_t> least(Look &look, std::string_view controller, const std::string &name, std::string *where) {
    const auto files = limit_files(look, controller, name);
    std::optional<uint64_t> out;
    for (const std::string &file : files) {
        const auto text = look.need_text(file);
        if (!text) continue;
        const auto value = *text == "max" ? std::optional(UINT64_MAX) : host::parse_unsigned(*text);
        if (!value) {
            look.garbled(file, "a number or max");
            continue;
        }
        if (out && *value >= *out) continue;
        out = value;
        *where = file;
    }
    return out;
}

void judge_memory(Look &look, const std::string &name, const std::string &consequence) {
    std::string where;
    const auto bytes = least(look, "memory", name, &where);
    if (!bytes) return;
    if (*bytes == UINT64_MAX) return look.pass("no control group limits it");
    look.warn(fmt::format("{}: {} MiB, {}", look.full(where), *bytes >> 20, consequence));
    look.fix("systemctl set-property UNIT " + std::string(name == "memory.max" ? "MemoryMax" : "MemoryHigh") + "=infinity",
             "the limit of that unit, for good", true);
    look.fix(fmt::format("echo max > /{}", where), "the limit of that group, until it is made anew");
}

void memory_max(Look &look) {
    judge_memory(look, "memory.max", "and the kernel kills past that; pinned pages count");
}

void memory_high(Look &look) {
    judge_memory(look, "memory.high", "and the kernel slows the process down past that");
}

void swap_max(Look &look) {
    std::string where;
    const auto bytes = least(look, "memory", "memory.swap.max", &where);
    if (!bytes) return;
    if (*bytes == 0) return look.pass("this group may not be swapped out");
    const auto swaps = look.need_text("proc/swaps");
    if (!swaps) return;
    if (!swaps->starts_with("Filename")) return look.garbled("proc/swaps", "a table that begins with Filename");
    if (host::lines(*swaps).size() == 1) return look.pass("there is no swap to go to");
    look.warn("this group's memory may be swapped out where it is not pinned");
    look.fix(fmt::format("echo 0 > /{}", where), "no swap for that group, until it is made anew");
}

void pids_max(Look &look) {
    constexpr uint64_t enough = 512;
    std::string where;
    const auto count = least(look, "pids", "pids.max", &where);
    if (!count) return;
    if (*count >= enough) return look.pass("threads are not short");
    look.warn(fmt::format("{}: only {} threads and processes", look.full(where), *count));
    look.fix(fmt::format("echo max > /{}", where), "the limit of that group, until it is made anew");
}

// "8:0 rbps=max wbps=1048576 riops=max wiops=max"
bool is_io_limit(std::string_view line) {
    const auto words = host::words(line);
    return words.size() >= 2 && words[0].find(':') != std::string_view::npos && words[1].find('=') != std::string_view::npos;
}

void io_max(Look &look) {
    bool limited = false, told = false;
    for (const std::string &file : limit_files(look, "io", "io.max")) {
        const auto text = look.need_text(file);
        if (!text) continue;
        for (const std::string_view line : host::lines(*text)) {
            if (!is_io_limit(line)) return look.garbled(file, "limits of devices");
            limited = true;
            look.warn(fmt::format("{}: {}", look.full(file), line));
            look.fix(
                fmt::format("echo '{} rbps=max wbps=max riops=max wiops=max' > /{}", line.substr(0, line.find(' ')), file),
                "the limits of that group for that device, until it is made anew");
        }
        told = true;
    }
    if (told && !limited) look.pass("no control group limits reads and writes");
}

void hugetlb(Look &look) {
    const std::string folder = "sys/kernel/mm/hugepages";
    for (const std::string &size : look.entries(folder)) { // "hugepages-2048kB" is hugetlb.2MB.max
        const auto kib = size.starts_with("hugepages-") && size.ends_with("kB")
                             ? host::parse_unsigned(size.substr(10, size.size() - 12))
                             : std::nullopt;
        if (!kib) {
            look.cannot_tell(look.full(below(folder, size)) + ": no size of huge pages");
            continue;
        }
        const std::string name = *kib >= 1048576 ? fmt::format("{}GB", *kib >> 20)
                                 : *kib >= 1024  ? fmt::format("{}MB", *kib >> 10)
                                                 : fmt::format("{}KB", *kib);
        std::string where;
        const auto bytes = least(look, "hugetlb", fmt::format("hugetlb.{}.max", name), &where);
        if (!bytes) continue;
        if (*bytes == UINT64_MAX)
            look.pass("no control group limits huge pages");
        else
            look.warn(fmt::format("{}: {} MiB of huge pages", look.full(where), *bytes >> 20));
    }
    if (!look.exists(folder)) look.not_applicable("this kernel has no huge pages");
}

void nodes(Look &look) {
    const auto folders = groups(look);
    if (folders.empty()) return;
    const std::string file = folders.front() + "/cpuset.mems.effective", system = "sys/devices/system/node/has_memory";
    if (!look.exists(file)) return look.not_applicable("no control group keeps this process to some nodes");
    const auto allowed_text = look.need_text(file), all_text = look.need_text(system);
    if (!allowed_text || !all_text) return;
    const auto allowed = host::parse_list(*allowed_text), all = host::parse_list(*all_text);
    if (!allowed || allowed->empty()) return look.garbled(file, "a list of nodes");
    if (!all || all->empty()) return look.garbled(system, "a list of nodes");
    if (std::includes(allowed->begin(), allowed->end(), all->begin(), all->end()))
        return look.pass(fmt::format("memory of every node may be used ({})", *allowed_text));
    look.warn(fmt::format("only nodes {} of {} may be used", *allowed_text, *all_text));
    look.fix("systemctl set-property UNIT AllowedMemoryNodes=", "lets that unit use every node", true);
}

constexpr std::array checks = {
    Check{"cgroup.memory_max", "no control group kills for memory", "proc/self/cgroup, sys/fs/cgroup/**/memory.max",
          "pinned memory counts against it and cannot be reclaimed: the process is killed in the middle of a transfer",
          "raise memory.max, or give hbf a budget below it", memory_max},
    Check{"cgroup.memory_high", "no control group slows down for memory", "proc/self/cgroup, sys/fs/cgroup/**/memory.high",
          "past it the kernel puts the process to sleep at each allocation: latency without a reason in sight",
          "raise memory.high", memory_high},
    Check{"cgroup.swap", "this group is not swapped out", "proc/self/cgroup, sys/fs/cgroup/**/memory.swap.max, proc/swaps",
          "what is swapped out comes back at the speed of the swap device", "set memory.swap.max to 0", swap_max},
    Check{"cgroup.pids", "enough threads", "proc/self/cgroup, sys/fs/cgroup/**/pids.max",
          "copy workers and the processes of the conformance suite cannot be started past it", "raise pids.max", pids_max},
    Check{"cgroup.io", "reads and writes are not throttled", "proc/self/cgroup, sys/fs/cgroup/**/io.max",
          "the cold tier is measured at the limit, not at what the drive can do", "lift the limit for its drive", io_max},
    Check{"cgroup.hugetlb", "huge pages are not limited", "proc/self/cgroup, sys/fs/cgroup/**/hugetlb.*.max",
          "huge pages past it fail to be allocated though they are free", "raise hugetlb.*.max", hugetlb},
    Check{"cgroup.nodes", "memory of every node may be used",
          "proc/self/cgroup, sys/fs/cgroup/**/cpuset.mems.effective, sys/devices/system/node/has_memory",
          "a tier on a node that is not allowed cannot be made", "add the nodes to the group's cpuset", nodes},
};

} // namespace

std::span<const Check> cgroup_checks() {
    return checks;
}

} // namespace hbf::tools::doctor
