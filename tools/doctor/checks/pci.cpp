// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor/pci.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include <fmt/format.h>

#include "core/host/parse.hpp"
#include "tools/doctor/check.hpp"
#include "tools/doctor/pci_registers.hpp"

namespace hbf::tools::doctor {
namespace {

// Devices of which the link matters.
std::vector<Pci> endpoints(Look &look) {
    auto out = pci_devices(look);
    std::erase_if(out, [](const Pci &pci) { return !pci.accelerator() && !pci.nvme() && !pci.rdma() && !pci.cxl_memory(); });
    return out;
}

constexpr const char *no_endpoint = "accelerator, NVMe drive, InfiniBand card or CXL device";

void width(Look &look) {
    const auto devices = endpoints(look);
    if (!any(look, devices, no_endpoint)) return;
    for (const Pci &pci : devices) {
        const auto now = look.need_number(pci.path + "/current_link_width");
        const auto most = look.need_number(pci.path + "/max_link_width");
        if (!now || !most) continue;
        if (*now == 0 || *now > 32 || *most == 0 || *most > 32)
            look.cannot_tell(fmt::format("{}: no link has {} of {} lanes", pci.name(), *now, *most));
        else if (*now < *most)
            look.warn(fmt::format("{} uses {} of its {} lanes", pci.name(), *now, *most));
        else
            look.pass(fmt::format("{} uses all its {} lanes", pci.name(), *most));
    }
}

std::optional<double> link_speed(Look &look, const std::string &path) {
    const auto text = look.need_text(path);
    if (!text) return std::nullopt;
    const auto value = host::parse_link_speed(*text);
    if (value && *value > 0) return value;
    look.garbled(path, "a speed like \"16.0 GT/s PCIe\"");
    return std::nullopt;
}

void speed(Look &look) {
    const auto devices = endpoints(look);
    if (!any(look, devices, no_endpoint)) return;
    for (const Pci &pci : devices) {
        const auto now = link_speed(look, pci.path + "/current_link_speed");
        const auto most = link_speed(look, pci.path + "/max_link_speed");
        if (!now || !most) continue;
        if (*now < *most)
            look.warn(fmt::format("{} runs at {} of {} GT/s; idle devices slow down, so look again under load", pci.name(),
                                  *now, *most));
        else
            look.pass(fmt::format("{} runs at {} GT/s", pci.name(), *now));
    }
}

// Where the kernel lists the sizes that a region of the device may have, the largest should be in use.
void region_size(Look &look) {
    const auto devices = accelerators(look);
    if (!any(look, devices, "accelerator")) return;
    for (const Pci &pci : devices) {
        const auto sizes = region_sizes(look, pci);
        if (!sizes) continue;
        bool resizable = false;
        for (size_t i = 0; i < sizes->size(); ++i) {
            const std::string file = fmt::format("{}/resource{}_resize", pci.path, i);
            const auto text = look.text(file);
            if (!text) continue;
            const auto bits = host::parse_unsigned("0x" + *text);
            if (!bits || *bits == 0 || (*bits >> 44) != 0) {
                look.garbled(file, "a set of sizes in hexadecimal");
                continue;
            }
            resizable = true;
            uint64_t largest = 1 << 20;
            for (uint64_t rest = *bits >> 1; rest != 0; rest >>= 1) largest <<= 1;
            if ((*sizes)[i] < largest)
                look.warn(fmt::format("{}: region {} has {} MiB of the {} MiB it could have", pci.name(), i,
                                      (*sizes)[i] >> 20, largest >> 20));
            else
                look.pass(fmt::format("{}: region {} has its largest size, {} MiB", pci.name(), i, largest >> 20));
        }
        if (!resizable) look.cannot_tell(fmt::format("{}: the kernel lists no sizes its regions could have", pci.name()));
    }
}

void redirect(Look &look) {
    const auto devices = peers(look);
    if (!any(look, devices, "accelerator with a peer")) return;
    const auto bridges = bridges_between(look, devices);
    size_t sound = 0;
    for (const Pci &bridge : bridges) {
        const auto on = acs_redirect(look, bridge);
        if (!on) continue;
        if (!*on) {
            ++sound;
            continue;
        }
        look.warn(fmt::format("bridge {} sends what its devices write to each other up to the processor", bridge.address));
        look.fix(fmt::format("setpci -s {} ECAP_ACS+0x6.w=0000", bridge.address),
                 "the bridge lets its devices talk directly; they can then read and write each other's memory freely");
    }
    if (bridges.empty()) return look.cannot_tell("no bridge above the devices was found");
    if (sound == bridges.size()) look.pass(fmt::format("none of {} bridges on the way redirects", sound));
}

void ordering(Look &look) {
    auto devices = peers(look);
    std::erase_if(devices, [](const Pci &pci) { return !pci.rdma() && !pci.accelerator(); });
    const bool card = std::any_of(devices.begin(), devices.end(), [](const Pci &pci) { return pci.rdma(); });
    if (!card) return look.not_applicable("this machine has no InfiniBand card beside an accelerator");
    for (const Pci &pci : devices) {
        const auto on = relaxed_ordering(look, pci);
        if (!on) continue;
        if (*on)
            look.warn(fmt::format("{} may reorder its writes (relaxed ordering)", pci.name()));
        else
            look.pass(fmt::format("{} keeps its writes in order", pci.name()));
    }
}

// Files like "RxErr 0\nBadTLP 0\nTOTAL_ERR_COR 0".
void errors(Look &look) {
    size_t reporting = 0;
    for (const Pci &pci : pci_devices(look)) {
        // A device reports in all three files or in none.
        static constexpr std::tuple<const char *, Verdict, const char *> kinds[] = {
            {"fatal", Verdict::fail, "fatal"},
            {"nonfatal", Verdict::fail, "uncorrected"},
            {"correctable", Verdict::warn, "corrected"}};
        const auto file_of = [&](const char *kind) { return fmt::format("{}/aer_dev_{}", pci.path, kind); };
        if (std::none_of(std::begin(kinds), std::end(kinds),
                         [&](const auto &kind) { return look.exists(file_of(std::get<0>(kind)), Look::Show::no); }))
            continue;
        ++reporting;
        for (const auto &[kind, verdict, what] : kinds) {
            const std::string file = file_of(kind);
            const auto text = look.need_text(file, Look::Form::text, Look::Show::no);
            if (!text) continue;
            const auto words = host::words(*text);
            const auto total = words.size() >= 2 && words[words.size() - 2].starts_with("TOTAL_ERR_")
                                   ? host::parse_unsigned(words.back())
                                   : std::nullopt;
            if (!total) {
                look.garbled(file, "counts of errors with their total");
                continue;
            }
            if (*total == 0) continue;
            look.seen(look.full(file), *text);
            look.say(verdict, fmt::format("{} reports {} {} errors", pci.name(), *total, what));
        }
    }
    if (reporting == 0) return look.cannot_tell("no device reports errors to this kernel (no AER, or firmware keeps it)");
    look.pass(fmt::format("no errors in the counts of {} devices", reporting));
}

void peer_probe(Look &look) {
    const auto devices = accelerators(look);
    if (devices.size() < 2) return look.not_applicable("this machine has no two accelerators");
    look.cannot_tell(fmt::format("whether {} accelerators reach each other is shown by copies only: run hbf conformance for "
                                 "each, and hbf bandwidth --matrix",
                                 devices.size()));
}

constexpr std::array checks = {
    Check{"pci.link_width", "links have all their lanes", "sys/bus/pci/devices/*/current_link_width, max_link_width",
          "a slot with fewer lanes, or a connector that is not clean, divides the bandwidth",
          "use a full slot; seat the card, riser or cable again; look for the board's table of shared lanes", width},
    Check{"pci.link_speed", "links run at full speed", "sys/bus/pci/devices/*/current_link_speed, max_link_speed",
          "each generation lost halves the bandwidth", "look again under load; then slot, riser, and the firmware's setting",
          speed},
    Check{"pci.region_size", "all device memory can be mapped", "sys/bus/pci/devices/*/resource, resource*_resize",
          "with a small window into the device's memory mappings fail or are slow, and peers reach only a part",
          "switch on \"Above 4G decoding\" and \"Resizable BAR\" in the firmware", region_size},
    Check{"pci.acs_redirect", "bridges let peers talk directly", "sys/bus/pci/devices/*/config (ACS control)",
          "redirected transfers between devices go through the root complex: slower, and not at all where that refuses",
          "switch redirection off on the bridges between peers, or let hbf stage through host memory", redirect},
    Check{"pci.relaxed_ordering", "cards keep their writes in order", "sys/bus/pci/devices/*/config (device control)",
          "a flag that overtakes its data makes a reader take old data for new",
          "switch relaxed ordering off on cards that write to device memory, unless the program flushes", ordering},
    Check{"pci.errors", "links report no errors", "sys/bus/pci/devices/*/aer_dev_*",
          "corrected errors cost time and grow into uncorrected ones; uncorrected ones lose data",
          "note the counts, seat card and riser again, and look whether they grow", errors},
    Check{"pci.peer_probe", "peers really reach each other", "sys/bus/pci/devices",
          "capability queries say yes where transfers between devices change or lose data without an error",
          "run hbf conformance --device NAME for each, and hbf bandwidth --matrix", peer_probe},
};

} // namespace

std::span<const Check> pci_checks() {
    return checks;
}

} // namespace hbf::tools::doctor
