// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <fmt/format.h>

#include "core/host/parse.hpp"
#include "tools/doctor/check.hpp"
#include "tools/doctor/kernel_facts.hpp"

namespace hbf::tools::doctor {
namespace {

const std::string thp = "sys/kernel/mm/transparent_hugepage/";

void huge_pages(Look &look) {
    const std::string folder = "sys/kernel/mm/hugepages";
    const auto sizes = look.entries(folder);
    if (sizes.empty()) {
        if (look.exists(folder)) return look.not_applicable("this kernel has no huge page sizes");
        return look.not_applicable("this kernel has no huge pages");
    }
    uint64_t all = 0, free = 0;
    for (const std::string &size : sizes) {
        const std::string at = below(folder, size, "");
        const auto total = look.need_number(at + "nr_hugepages"), unused = look.need_number(at + "free_hugepages");
        if (!total || !unused) continue;
        if (*unused > *total) look.cannot_tell(look.full(at) + ": more free than there are");
        all += *total;
        free += *unused;
    }
    if (free > 0) return look.pass(fmt::format("{} of {} huge pages are free", free, all));
    look.warn(all == 0 ? std::string("no huge pages are set aside") : fmt::format("all {} huge pages are taken", all));
    look.fix_sysctl("vm.nr_hugepages", "1024", "sets 1024 huge pages of the default size aside (2 GiB where that is 2 MiB)");
}

void transparent(Look &look) {
    const auto mode = look.word(thp + "enabled", {"always", "madvise", "never", "inherit"});
    if (!mode)
        return look.exists(thp + "enabled") ? void() : look.not_applicable("this kernel has no transparent huge pages");
    if (*mode == "madvise") return look.pass("transparent huge pages where a program asks for them");
    look.warn(*mode == "always" ? "transparent huge pages for everyone: pages are moved together behind a program's back"
                                : "no transparent huge pages, also where a program asks for them");
    look.fix("echo madvise > /" + thp + "enabled", "transparent huge pages only where a program asks");
    look.fix_boot("transparent_hugepage=madvise", "the same");
}

void compaction(Look &look) {
    const auto mode = look.word(thp + "defrag", {"always", "defer", "defer+madvise", "madvise", "never"});
    if (!mode)
        return look.exists(thp + "defrag") ? void() : look.not_applicable("this kernel has no transparent huge pages");
    if (*mode != "always") return look.pass("a fault does not wait for pages to be moved together: " + *mode);
    look.warn("any fault may wait until pages were moved together");
    look.fix("echo madvise > /" + thp + "defrag", "only memory whose program asked waits for huge pages");
}

void collapse(Look &look) {
    const auto on = look.word(thp + "khugepaged/defrag", {"0", "1"});
    if (!on)
        return look.exists(thp + "khugepaged/defrag") ? void()
                                                      : look.not_applicable("this kernel has no transparent huge pages");
    const auto mode = look.need_word(thp + "enabled", {"always", "madvise", "never", "inherit"});
    if (!mode) return;
    if (*on == "0" || *mode != "always") return look.pass("the kernel's thread leaves alone what did not ask");
    look.warn("the kernel's thread collapses any memory into huge pages while it is in use");
    look.fix("echo 0 > /" + thp + "khugepaged/defrag", "the thread no longer moves pages to make room");
}

void overcommit(Look &look) {
    const auto mode = look.need_word("proc/sys/vm/overcommit_memory", {"0", "1", "2"});
    if (!mode) return;
    if (*mode != "2") return look.pass("address space may be reserved ahead of memory: mode " + *mode);
    look.warn("every reservation counts as memory (mode 2): tiers that reserve address space ahead are refused");
    look.fix_sysctl("vm.overcommit_memory", "0", "reservations are judged when they are used");
}

void mappings(Look &look) {
    constexpr uint64_t ordinary = 65530; // the kernel's own default
    const auto most = look.need_number("proc/sys/vm/max_map_count");
    if (!most) return;
    if (*most >= ordinary) return look.pass(fmt::format("a process may have {} mappings", *most));
    look.warn(fmt::format("a process may have only {} mappings; {} is the kernel's own default", *most, ordinary));
    look.fix_sysctl("vm.max_map_count", "262144", "lets a process have more mappings");
}

void swap(Look &look) {
    const auto table = look.need_text("proc/swaps");
    const auto swappiness = look.need_number("proc/sys/vm/swappiness");
    if (!table || !swappiness) return;
    if (!table->starts_with("Filename")) return look.garbled("proc/swaps", "a table that begins with Filename");
    if (*swappiness > 200) return look.garbled("proc/sys/vm/swappiness", "0 to 200");
    if (host::lines(*table).size() == 1) return look.pass("there is no swap");
    if (*swappiness <= 10) return look.pass(fmt::format("swap is a last resort (swappiness {})", *swappiness));
    look.warn(fmt::format("memory that is not pinned may be swapped out (swappiness {})", *swappiness));
    look.fix_sysctl("vm.swappiness", "1", "swaps only when memory runs out");
    look.fix("swapoff -a", "no swap until the next boot; needs room in memory for what is swapped out");
}

void zswap(Look &look) {
    const auto on = look.word("sys/module/zswap/parameters/enabled", {"Y", "N"});
    if (!on)
        return look.exists("sys/module/zswap/parameters/enabled") ? void() : look.not_applicable("this kernel has no zswap");
    if (*on == "N") return look.pass("pages are not compressed behind a program's back");
    look.warn("zswap is on: pages are compressed and come back at the price of a fault");
    look.fix("echo N > /sys/module/zswap/parameters/enabled", "pages go to swap as they are");
}

void merging(Look &look) {
    const auto run = look.word("sys/kernel/mm/ksm/run", {"0", "1", "2"});
    if (!run)
        return look.exists("sys/kernel/mm/ksm/run") ? void() : look.not_applicable("this kernel merges no pages (KSM)");
    if (*run != "1") return look.pass("equal pages are not merged");
    look.warn("equal pages are merged (KSM): pages that devices write to are looked at and replaced");
    look.fix("echo 2 > /sys/kernel/mm/ksm/run", "stops merging and splits what was merged");
}

constexpr std::array checks = {
    Check{"memory.huge_pages", "huge pages are set aside and free", "sys/kernel/mm/hugepages/*/nr_hugepages, free_hugepages",
          "without them large tiers take ordinary pages: more misses in address translation, and more entries to pin",
          "set huge pages aside early, best on the kernel's command line (hugepages=N)", huge_pages},
    Check{"memory.thp", "transparent huge pages on request", "sys/kernel/mm/transparent_hugepage/enabled",
          "\"always\" lets the kernel move pages at any time, which shows as jumps of latency; \"never\" refuses also who "
          "asks",
          "set it to madvise: hbf asks for what it needs", transparent},
    Check{"memory.thp_defrag", "no fault waits for compaction", "sys/kernel/mm/transparent_hugepage/defrag",
          "with \"always\" a fault may take milliseconds while pages are moved together", "set it to madvise or defer",
          compaction},
    Check{"memory.khugepaged", "memory in use is not collapsed",
          "sys/kernel/mm/transparent_hugepage/khugepaged/defrag, enabled",
          "the thread locks and copies pages while they are used",
          "set transparent huge pages to madvise, or its defrag to 0", collapse},
    Check{"memory.overcommit", "address space may be reserved ahead", "proc/sys/vm/overcommit_memory",
          "tiers reserve address space first and memory later; strict accounting refuses that",
          "set vm.overcommit_memory to 0", overcommit},
    Check{"memory.map_count", "enough mappings a process", "proc/sys/vm/max_map_count",
          "memory that is mapped piece by piece needs a mapping each; past the limit, mmap fails", "raise vm.max_map_count",
          mappings},
    Check{"memory.swap", "memory is not swapped out early", "proc/swaps, proc/sys/vm/swappiness",
          "a tier that was swapped out is slower than the tier below it", "lower vm.swappiness, or switch swap off", swap},
    Check{"memory.zswap", "pages are not compressed", "sys/module/zswap/parameters/enabled",
          "a compressed page costs a fault and time of the processor when it is used again", "switch zswap off", zswap},
    Check{"memory.ksm", "equal pages are not merged", "sys/kernel/mm/ksm/run",
          "merging replaces pages by write-protected common ones, under transfers too", "switch merging off", merging},
};

} // namespace

std::span<const Check> memory_checks() {
    return checks;
}

} // namespace hbf::tools::doctor
