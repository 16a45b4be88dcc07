// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/common/version_range.hpp"
#include "core/host/parse.hpp"
#include "tools/doctor/check.hpp"
#include "tools/doctor/kernel_facts.hpp"
#include "tools/doctor/pci.hpp"

namespace hbf::tools::doctor {
namespace {

constexpr std::string_view oldest = "5.12"; // pinned pages stay with the parent across fork, huge pages too

void version(Look &look) {
    const auto kernel = kernel_version(look);
    if (!kernel) return;
    if (version_in_range(fmt::format(">={}", oldest), *kernel)) return look.pass("kernel " + *kernel);
    if (kernel->find(".el") != std::string::npos)
        return look.cannot_tell(fmt::format("kernel {}: its distribution takes changes of newer ones into it", *kernel));
    look.fail(fmt::format("kernel {} is older than {}", *kernel, oldest));
}

void clocksource(Look &look) {
    const std::string folder = "sys/devices/system/clocksource/clocksource0/";
    const auto clock = look.need_word(folder + "current_clocksource",
                                      {"tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page", "xen", "hpet",
                                       "acpi_pm", "jiffies", "refined-jiffies", "tsc-early"});
    if (!clock) return;
    if (*clock != "hpet" && *clock != "acpi_pm" && !clock->ends_with("jiffies"))
        return look.pass("time is read from " + *clock);
    look.warn(fmt::format("time is read from {}, which takes a call of the kernel each time", *clock));
    look.text(folder + "available_clocksource");
    look.fix(fmt::format("cat /{}available_clocksource", folder), "nothing; shows what else there is");
}

void io_uring(Look &look) {
    const auto off = look.word("proc/sys/kernel/io_uring_disabled", {"0", "1", "2"});
    if (!off) return look.not_applicable("this kernel cannot switch io_uring off for users (before 6.6)");
    if (*off == "0") return look.pass("io_uring is open to everyone");
    look.warn(*off == "1" ? "io_uring is for root and one group only: other users' cold tier reads and writes one by one"
                          : "io_uring is switched off: the cold tier reads and writes one by one");
    look.fix_sysctl("kernel.io_uring_disabled", "0", "lets every user make io_uring instances");
}

// "CONFIG_X=y" of the running kernel; a doubt if its configuration is nowhere.
std::optional<std::string> configuration(Look &look) {
    const auto release = look.need_text("proc/sys/kernel/osrelease");
    if (!release || release->find('/') != std::string::npos) return std::nullopt;
    const std::string path = "boot/config-" + *release;
    auto text = look.need_text(path, Look::Form::large, Look::Show::no);
    if (!text) return std::nullopt;
    if (text->find("\nCONFIG_") != std::string::npos || text->starts_with("CONFIG_")) return text;
    look.cannot_tell(look.full(path) + ": no configuration of a kernel");
    return std::nullopt;
}

bool is_set(const std::string &text, std::string_view option) {
    const auto lines = host::lines(text);
    return std::find(lines.begin(), lines.end(), fmt::format("{}=y", option)) != lines.end();
}

void device_memory(Look &look) {
    if (!any(look, accelerators(look), "accelerator")) return;
    const auto text = configuration(look);
    if (!text) return;
    std::string missing;
    for (const char *option : {"CONFIG_DEVICE_PRIVATE", "CONFIG_HMM_MIRROR", "CONFIG_PCI_P2PDMA"}) {
        const bool set = is_set(*text, option);
        look.seen(option, set ? "y" : "not set");
        if (!set) missing += (missing.empty() ? "" : ", ") + std::string(option);
    }
    if (missing.empty()) return look.pass("the kernel can mirror address spaces and lend device memory to other devices");
    look.warn("the kernel is built without " + missing);
}

void zeroed_pages(Look &look) {
    const auto parameters = kernel_parameters(look);
    if (!parameters) return;
    std::string last;
    for (const std::string &one : *parameters)
        if (one.starts_with("init_on_alloc=")) last = one;
    if (last == "init_on_alloc=0") return look.pass("pages are not cleared when they are given out");
    if (!last.empty()) {
        look.warn(last + ": every page is cleared when it is given out, and again by whoever fills it");
    } else {
        const auto text = configuration(look);
        if (!text) return;
        const bool set = is_set(*text, "CONFIG_INIT_ON_ALLOC_DEFAULT_ON");
        look.seen("CONFIG_INIT_ON_ALLOC_DEFAULT_ON", set ? "y" : "not set");
        if (!set) return look.pass("pages are not cleared when they are given out, by the kernel's own default");
        look.warn("the kernel clears every page when it gives it out, by its own default");
    }
    look.fix_boot("init_on_alloc=0", "the kernel's command line; a protection against reading old data is given up");
}

constexpr std::array checks = {
    Check{"kernel.version", "kernel 5.12 or newer", "proc/sys/kernel/osrelease, proc/version, proc/version_signature",
          "in older ones a fork can tear a pinned page off: the device goes on writing into a page that the program no "
          "longer has, and no call fails",
          "update the kernel; until then no process with pinned memory may fork", version},
    Check{
        "kernel.clocksource", "time is cheap to read", "sys/devices/system/clocksource/clocksource0/current_clocksource",
        "with hpet or acpi_pm each look at the clock costs a microsecond, which shows in every latency",
        "find out in the kernel's log why the processor's own counter was given up; set clocksource=tsc only if it is sound",
        clocksource},
    Check{"kernel.io_uring", "io_uring may be used", "proc/sys/kernel/io_uring_disabled",
          "the cold tier submits its reads and writes through io_uring; without it, it goes on with slower calls",
          "set kernel.io_uring_disabled to 0, or join the group in kernel.io_uring_group", io_uring},
    Check{"kernel.device_memory", "the kernel can share memory between devices", "boot/config-*",
          "without these options drivers cannot migrate pages on faults, and refuse transfers between devices",
          "use a distribution's kernel, or build one with CONFIG_DEVICE_PRIVATE, CONFIG_HMM_MIRROR and CONFIG_PCI_P2PDMA",
          device_memory},
    Check{"kernel.zeroed_pages", "pages are not cleared twice", "proc/cmdline, boot/config-*",
          "clearing every page as it is given out costs bandwidth when large tiers are made; makers of systems with "
          "coherent device memory advise against it",
          "boot with init_on_alloc=0 where that protection is not needed", zeroed_pages},
};

} // namespace

std::span<const Check> kernel_checks() {
    return checks;
}

} // namespace hbf::tools::doctor
