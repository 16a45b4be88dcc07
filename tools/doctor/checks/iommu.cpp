// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/host/parse.hpp"
#include "tools/doctor/check.hpp"
#include "tools/doctor/kernel_facts.hpp"
#include "tools/doctor/pci.hpp"
#include "tools/doctor/pci_registers.hpp"

namespace hbf::tools::doctor {
namespace {

const std::string groups = "sys/kernel/iommu_groups";

// Are addresses of this device translated? Empty: a doubt was said.
std::optional<bool> translated(Look &look, const Pci &pci) {
    const std::string group = look.link_name(pci.path + "/iommu_group");
    if (group.empty() || !host::parse_unsigned(group)) {
        look.cannot_tell(fmt::format("{} is in no IOMMU group, though there are groups", pci.name()));
        return std::nullopt;
    }
    const std::string file = groups + "/" + group + "/type";
    const auto type = look.need_word(file, {"identity", "DMA", "DMA-FQ", "unmanaged", "blocked", "auto"});
    if (!type) return std::nullopt;
    return *type != "identity";
}

void advise(Look &look) {
    look.fix_boot("iommu=pt",
                  "the kernel's command line; devices of the host use memory's own addresses, guests stay separate");
}

void translation(Look &look) {
    const auto devices = peers(look);
    if (!any(look, devices, "accelerator with a peer")) return;
    const auto names = look.need_entries(groups);
    const auto parameters = kernel_parameters(look);
    if (!look.exists(groups) || !parameters) return;
    if (names.empty()) return look.pass("no IOMMU stands between the devices");
    std::string between; // devices whose addresses are translated
    size_t told = 0;
    for (const Pci &pci : devices) {
        const auto on = translated(look, pci);
        if (!on) continue;
        ++told;
        if (*on) between += (between.empty() ? "" : ", ") + pci.address;
    }
    if (between.empty()) {
        if (told == devices.size()) look.pass("all peers use memory's own addresses (identity)");
        return;
    }
    advise(look);
    std::string redirecting;
    for (const Pci &bridge : bridges_between(look, devices))
        if (acs_redirect(look, bridge).value_or(false)) redirecting += (redirecting.empty() ? "" : ", ") + bridge.address;
    if (redirecting.empty()) return look.warn(fmt::format("addresses of {} are translated on their way", between));
    look.fail(fmt::format("addresses of {} are translated, and bridge {} sends what they write to each other through that "
                          "translation",
                          between, redirecting));
}

void faults(Look &look) {
    const auto names = look.need_entries(groups);
    if (!look.exists(groups)) return;
    if (names.empty()) return look.not_applicable("this machine runs without an IOMMU");
    const auto log = kernel_log(look);
    if (!log) return;
    size_t count = 0;
    for (const std::string &line : log->lines) {
        const bool fault = line.find("IO_PAGE_FAULT") != std::string::npos ||
                           (line.find("DMAR:") != std::string::npos && line.find("fault addr") != std::string::npos) ||
                           (line.find("arm-smmu-v3") != std::string::npos && line.find("event 0x10") != std::string::npos);
        if (!fault) continue;
        ++count;
        look.seen(fmt::format("fault {}", count), line);
    }
    if (count > 0) return look.fail(fmt::format("{} accesses of devices were refused since the machine started", count));
    if (log->whole) return look.pass("no access of a device was refused since the machine started");
    look.cannot_tell("no refused access in what is left of the kernel's log; its beginning was overwritten");
}

constexpr std::array checks = {
    Check{"iommu.translation", "peers use memory's own addresses",
          "sys/kernel/iommu_groups/*/type, proc/cmdline, sys/bus/pci/devices/*/config",
          "translated transfers between PCI Express devices were seen to change data or to vanish while every call reported "
          "success; where bridges redirect them too, nothing keeps them whole",
          "boot with iommu=pt, or forbid transfers between devices and stage through host memory", translation},
    Check{"iommu.faults", "no access of a device was refused", "dev/kmsg, sys/kernel/iommu_groups",
          "a refused write is lost without an error in the program: its destination stays as it was",
          "boot with iommu=pt; look which device it was, and run hbf corruption afterwards", faults},
};

} // namespace

std::span<const Check> iommu_checks() {
    return checks;
}

} // namespace hbf::tools::doctor
