// SPDX-License-Identifier: Apache-2.0
#include "tools/emulate/root_pci.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

namespace hbf::tools::emulate {
namespace {

namespace fs = std::filesystem;

const char *gigatransfers(uint32_t generation) {
    constexpr std::array rates = {"Unknown",        "2.5 GT/s PCIe",  "5.0 GT/s PCIe", "8.0 GT/s PCIe",
                                  "16.0 GT/s PCIe", "32.0 GT/s PCIe", "64.0 GT/s PCIe"};
    return generation < rates.size() ? rates[generation] : rates[0];
}

// Of the profile's links, that which joins the device to the host.
std::optional<size_t> host_link(const model::Profile &profile, size_t device) {
    const std::string agent = fmt::format("device{}", device);
    for (size_t i = 0; i < profile.links.size(); ++i) {
        const model::ProfileLink &link = profile.links[i];
        const bool here = link.a == agent || link.b == agent;
        const std::string &other = link.a == agent ? link.b : link.a;
        if (here && link.kind == "pcie" && !other.starts_with("device")) return i;
    }
    return std::nullopt;
}

void write_link(const RootWriter &out, const fs::path &at, const model::ProfileLink &link) {
    const uint32_t most = link.max_generation ? link.max_generation : link.generation;
    const uint32_t widest = link.max_width ? link.max_width : link.width;
    // As the kernel shows a link that is not trained.
    out.file(at / "current_link_speed", fmt::format("{}\n", gigatransfers(link.up ? link.generation : 0)));
    out.file(at / "current_link_width", fmt::format("{}\n", link.up ? link.width : 0));
    out.file(at / "max_link_speed", fmt::format("{}\n", gigatransfers(most)));
    out.file(at / "max_link_width", fmt::format("{}\n", widest));
}

} // namespace

void write_device(const RootWriter &out, const model::Profile &profile, size_t index, bool closed) {
    const model::ProfileDevice &device = profile.devices[index];
    if (!device.pci.empty()) {
        const fs::path at = fs::path("sys/bus/pci/devices") / device.pci;
        out.file(at / "vendor", fmt::format("0x{:04x}\n", device.pci_vendor));
        out.file(at / "device", fmt::format("0x{:04x}\n", device.pci_device));
        // What names no class is called a processing accelerator.
        out.file(at / "class", (device.pci_class.empty() ? "0x120000" : device.pci_class) + "\n");
        out.file(at / "numa_node", fmt::format("{}\n", device.numa));
        if (!device.driver.empty()) out.link(at / "driver", "../../../../bus/pci/drivers/" + device.driver);
        if (const auto link = host_link(profile, index)) write_link(out, at, profile.links[*link]);
        if (profile.host.iommu != "off" && !profile.host.iommu.empty()) {
            out.link(at / "iommu_group", fmt::format("../../../../kernel/iommu_groups/{}", index));
            out.file(fmt::format("sys/kernel/iommu_groups/{}/type", index),
                     profile.host.iommu == "pt" ? "identity\n" : "DMA-FQ\n");
        }
    }
    for (const std::string &node : device.nodes) {
        const fs::path path(node);
        if (!path.is_absolute() || node.find("..") != std::string::npos)
            throw std::runtime_error(fmt::format("{}: device node \"{}\" is no absolute path", profile.file, node));
        out.file(path.relative_path(), "", closed ? fs::perms::none : fs::perms::owner_all);
    }
    if (!device.driver.empty())
        out.file(fs::path("sys/module") / device.driver / "version",
                 profile.vendor_text(device.vendor, "kernel_driver_version", "emulated") + "\n");
}

void write_redirecting_bridge(const RootWriter &out) {
    std::string config(4096, '\0');
    const auto put = [&](size_t at, uint32_t value) {
        for (unsigned byte = 0; byte < 4; ++byte) config[at + byte] = static_cast<char>(value >> 8 * byte);
    };
    constexpr size_t status = 4, capabilities = 0x34, express = 0x40, acs = 0x100;
    put(status, 1u << 20); // it has a list of capabilities
    put(capabilities, express);
    put(express, 0x10);          // PCI Express, the last one
    put(acs, 0x000d | 1u << 16); // version 1, the last one
    put(acs + 4, 1u << 2 | 1u << 18);
    const fs::path at = "sys/bus/pci/devices/0000:00:01.0";
    out.file(at / "vendor", "0x8086\n");
    out.file(at / "device", "0x352a\n");
    out.file(at / "class", "0x060400\n");
    out.file(at / "numa_node", "0\n");
    out.file(at / "config", config);
}

void spoil(model::Profile &profile, const std::vector<model::FaultSetting> &faults) {
    for (const model::FaultSetting &one : faults) {
        if (one.fault == model::Fault::iommu_redirect) {
            profile.host.iommu = "translated";
            profile.host.acs_redirect = true;
        }
        if (one.fault != model::Fault::link_narrow) continue;
        for (size_t i = 0; i < profile.devices.size(); ++i) {
            if (one.device >= 0 && static_cast<size_t>(one.device) != i) continue;
            const auto found = host_link(profile, i);
            if (!found) continue;
            model::ProfileLink &link = profile.links[*found];
            link.max_width = link.max_width ? link.max_width : link.width;
            link.width = std::min(link.width, static_cast<uint32_t>(one.value ? one.value : 4));
        }
    }
}

} // namespace hbf::tools::emulate
