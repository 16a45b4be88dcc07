// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/common/printable.hpp"
#include "core/output/size.hpp"
#include "core/output/table.hpp"
#include "tools/bandwidth/rows.hpp"
#include "tools/probe/report.hpp"

namespace hbf::tools::probe {
namespace {

std::string node_text(int node) {
    return node < 0 ? "-" : std::to_string(node);
}

std::vector<Cell> tier_row(const TierInfo &tier) {
    std::string detail = tier.emulated ? "EMULATED" : "";
    if (tier.degraded) detail += detail.empty() ? "degraded" : ", degraded";
    if (!tier.detail.empty()) detail += (detail.empty() ? "" : ": ") + tier.detail;
    return {tier.name,
            bandwidth::kind_name(tier.kind),
            bandwidth::media_name(tier.media),
            format_size(tier.capacity),
            node_text(tier.numa_node),
            {detail, tier.emulated || tier.degraded ? Colour::yellow : Colour::none}};
}

std::string device_words(const ProbedDevice &device) {
    return printable(device.name) + (device.emulated ? ", emulated" : "") +
           (device.on_cpu ? ", run by this machine's CPUs and no accelerator" : "");
}

std::string kernels_text(const ProbedDevice &device) {
    std::string names;
    for (const std::string &name : device.kernels) names += (names.empty() ? "" : ", ") + name;
    return names.empty() ? names : fmt::format("    {} kernels, built when first used: {}\n", device.kernels.size(), names);
}

std::string device_text(const ProbedDevice &device) {
    std::string line = fmt::format("  {}  {}", device.id, device.name);
    if (!device.driver.empty()) line += ", driver " + device.driver;
    if (!device.pci_address.empty()) line += ", PCI " + device.pci_address;
    line = printable(line);
    if (device.emulated) line += "  " + coloured("[EMULATED]", Colour::yellow);
    if (device.on_cpu) line += "  " + coloured("[THIS MACHINE'S CPUS]", Colour::yellow);
    if (device.reason != Reason::selected)
        line += "  " + coloured(std::string(to_string(device.reason)), Colour::red) + ": " + printable(device.detail);
    line += "\n";
    std::vector<std::vector<Cell>> rows;
    for (const TierInfo &tier : device.tiers) rows.push_back(tier_row(tier));
    return line + format_table({"TIER", "KIND", "MEDIA", ">CAPACITY", ">NODE", "DETAIL"}, rows, "    ") +
           kernels_text(device);
}

Colour colour_of(const Candidate &candidate) {
    switch (candidate.reason) {
    case Reason::selected:
        return Colour::green;
    case Reason::outranked:
    case Reason::duplicate_name:
    case Reason::denied_by_config:
    case Reason::not_in_allow_list:
    case Reason::no_device:
    case Reason::driver_absent:
        return Colour::dim; // nothing is wrong with it
    default:
        return Colour::red;
    }
}

const std::string &file_of(const Candidate &candidate) {
    return candidate.manifest.empty() ? candidate.plugin_file.native() : candidate.manifest.native();
}

} // namespace

size_t tier_count(const Candidate &candidate) {
    size_t count = 0;
    for (const ProbedDevice &device : candidate.devices) count += device.tiers.size();
    return count;
}

std::string closing_line(const Selection &selection) {
    if (const Candidate *primary = selection.primary()) {
        const size_t tiers = tier_count(*primary);
        const bool emulated = !primary->devices.empty() && primary->devices.front().emulated;
        return fmt::format("HBF ready: {} {}, {} tier{}{}", primary->name, primary->version, tiers, tiers == 1 ? "" : "s",
                           emulated ? " (emulated)" : "");
    }
    if (selection.candidates.empty())
        return "HBF not ready: no plugin was found; plugins.path (HBF_PLUGIN_PATH) names the folders that are searched";
    const size_t count = selection.candidates.size();
    if (count == 1) {
        const Candidate &only = selection.candidates.front();
        return fmt::format("HBF not ready: plugin {} cannot serve this host: {}: {}", only.name, to_string(only.reason),
                           only.detail);
    }
    return fmt::format("HBF not ready: none of {} plugins can serve this host; hbf probe --explain says why for each",
                       count);
}

std::string report_text(const Selection &selection) {
    std::string text;
    for (const Candidate &candidate : selection.candidates) {
        if (candidate.reason != Reason::selected) continue;
        text += fmt::format("{} {}  {}{}{}\n", coloured(printable(candidate.name), Colour::bold),
                            printable(candidate.version), printable(candidate.vendor), candidate.pinned ? ", pinned" : "",
                            candidate.probe_cached ? ", from an earlier probe" : "");
        for (const ProbedDevice &device : candidate.devices) text += device_text(device);
        text += "\n";
    }
    return text;
}

std::string report_explain(const Selection &selection) {
    std::vector<std::vector<Cell>> rows;
    for (const Candidate &candidate : selection.candidates) {
        const Colour colour = colour_of(candidate);
        rows.push_back({{candidate.name, candidate.reason == Reason::selected ? Colour::bold : Colour::none},
                        candidate.version.empty() ? "-" : candidate.version,
                        std::string(to_string(candidate.stage)),
                        {std::string(to_string(candidate.reason)), colour},
                        candidate.detail + "  [" + file_of(candidate) + "]"});
        if (candidate.devices.size() < 2) continue; // one device, and its plugin's reason is its own
        for (const ProbedDevice &device : candidate.devices)
            rows.push_back(
                {"  " + printable(device.id),
                 "",
                 "",
                 {std::string(to_string(device.reason)), device.reason == Reason::selected ? colour : Colour::red},
                 device.detail.empty() ? device_words(device) : printable(device.detail)});
    }
    return rows.empty() ? std::string() : format_table({"PLUGIN", "VERSION", "STAGE", "REASON", "DETAIL"}, rows) + "\n";
}

} // namespace hbf::tools::probe
