// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "core/host/parse.hpp"
#include "core/host/sections.hpp"

namespace hbf::host {
namespace {

// "0000:3b:00.0"; domains may have more digits (VMD, Hyper-V).
bool is_address(std::string_view name) {
    const size_t colon = name.find(':');
    if (colon == std::string_view::npos || colon < 4 || colon > 8 || name.size() != colon + 8) return false;
    for (size_t i = 0; i < name.size(); ++i) {
        const char c = name[i];
        const bool hexadecimal = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
        if (i == colon || i == colon + 3 ? c != ':' : i == colon + 6 ? c != '.' : !hexadecimal) return false;
    }
    return true;
}

double speed(Reader &reader, const std::filesystem::path &path) {
    const auto text = reader.text(path);
    if (!text) return 0; // conventional PCI and virtual devices have no link
    const auto value = parse_link_speed(*text);
    if (!value) reader.problem(path, fmt::format("expected a link speed, found \"{}\"", text->substr(0, 40)));
    return value.value_or(0);
}

int width(Reader &reader, const std::filesystem::path &path) {
    const auto value = reader.number(path);
    if (!value || *value > 32) return 0; // 63 and 255 are the kernel's "unknown"
    return static_cast<int>(*value);
}

} // namespace

void read_pci(Reader &reader, Inventory &out) {
    const std::filesystem::path folder = "sys/bus/pci/devices";
    if (!reader.exists(folder)) {
        reader.problem(folder, "not there: no PCI devices are known");
        return;
    }
    for (const std::string &name : reader.entries(folder)) {
        const auto path = folder / name;
        if (!is_address(name)) {
            reader.problem(path, "no PCI address");
            continue;
        }
        const auto vendor = reader.number(path / "vendor");
        const auto device = reader.number(path / "device");
        const auto class_code = reader.number(path / "class");
        if (!vendor || !device || !class_code || *vendor > 0xffff || *device > 0xffff || *class_code > 0xffffff) {
            reader.problem(path, "left out: vendor, device or class is missing or no such number");
            continue;
        }
        PciDevice pci;
        pci.address = name;
        pci.vendor = static_cast<uint16_t>(*vendor);
        pci.device = static_cast<uint16_t>(*device);
        pci.class_code = static_cast<uint32_t>(*class_code);
        pci.numa_node = reader.node(path / "numa_node");
        pci.driver = reader.link_name(path / "driver");
        if (const std::string group = reader.link_name(path / "iommu_group"); !group.empty()) {
            pci.iommu_group = static_cast<int>(std::min<int64_t>(parse_signed(group).value_or(-1), INT32_MAX));
        }
        pci.link = {speed(reader, path / "current_link_speed"), speed(reader, path / "max_link_speed"),
                    width(reader, path / "current_link_width"), width(reader, path / "max_link_width")};
        out.pci.push_back(std::move(pci));
    }
    std::sort(out.pci.begin(), out.pci.end(), [](const PciDevice &a, const PciDevice &b) { return a.address < b.address; });
}

} // namespace hbf::host
