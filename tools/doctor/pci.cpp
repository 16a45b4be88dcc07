// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor/pci.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace hbf::tools::doctor {
namespace {

const std::string folder = "sys/bus/pci/devices";

bool is_address(std::string_view name) {
    return name.size() >= 12 && name[name.size() - 2] == '.' && name[name.size() - 5] == ':' && name[name.size() - 8] == ':';
}

// ".../devices/pci0000:00/0000:00:01.0/0000:01:00.0": what lies between the root and the device.
std::vector<std::string> on_the_way(std::string_view target) {
    std::vector<std::string> out;
    while (!target.empty()) {
        const std::string_view part = target.substr(0, target.find('/'));
        target.remove_prefix(std::min(target.size(), part.size() + 1));
        if (!target.empty() && is_address(part)) out.emplace_back(part);
    }
    return out;
}

} // namespace

bool Pci::accelerator() const {
    if (base_and_sub() == 0x0302 || base_and_sub() == 0x1200) return true;
    const Vendor *known = vendor_of(vendor);
    if (base_and_sub() != 0x0300 || !known) return false;
    return known->display_is_accelerator || address.find(":00:") == std::string::npos; // bus 0: part of the processor
}

std::string Pci::name() const {
    const Vendor *known = vendor_of(vendor);
    return known && accelerator() ? fmt::format("{} device {}", known->name, address) : address;
}

std::vector<Pci> pci_devices(Look &look) {
    std::vector<Pci> out;
    for (const std::string &name : look.need_entries(folder)) {
        Pci pci;
        pci.address = name;
        pci.path = below(folder, name);
        const auto class_code = look.need_number(pci.path + "/class", Look::Show::no);
        const auto vendor = look.need_number(pci.path + "/vendor", Look::Show::no);
        if (!class_code || !vendor) continue; // a doubt already
        if (!is_address(name) || *class_code > 0xffffff || *vendor > 0xffff) {
            look.cannot_tell(fmt::format("{}: no PCI device has such numbers", look.full(pci.path)));
            continue;
        }
        pci.class_code = static_cast<uint32_t>(*class_code);
        pci.vendor = static_cast<uint16_t>(*vendor);
        pci.driver = look.link_name(pci.path + "/driver");
        const std::string target = look.link(pci.path);
        pci.place_known = !target.empty();
        pci.above = on_the_way(target);
        out.push_back(std::move(pci));
    }
    return out;
}

std::vector<Pci> accelerators(Look &look) {
    auto out = pci_devices(look);
    std::erase_if(out, [](const Pci &pci) { return !pci.accelerator(); });
    return out;
}

std::vector<Pci> peers(Look &look) {
    auto out = pci_devices(look);
    std::erase_if(out, [](const Pci &pci) { return !pci.accelerator() && !pci.nvme() && !pci.rdma(); });
    const bool with_accelerator = std::any_of(out.begin(), out.end(), [](const Pci &pci) { return pci.accelerator(); });
    if (!with_accelerator || out.size() < 2) out.clear();
    return out;
}

std::vector<Pci> bridges_between(Look &look, const std::vector<Pci> &devices) {
    auto out = pci_devices(look);
    const bool known = std::all_of(devices.begin(), devices.end(), [](const Pci &pci) { return pci.place_known; });
    std::erase_if(out, [&](const Pci &pci) {
        const auto on_way = [&](const Pci &device) {
            return std::find(device.above.begin(), device.above.end(), pci.address) != device.above.end();
        };
        return !pci.bridge() || (known && std::none_of(devices.begin(), devices.end(), on_way));
    });
    return out;
}

bool any(Look &look, const std::vector<Pci> &devices, const char *what) {
    if (devices.empty()) look.not_applicable(fmt::format("this machine has no {}", what));
    return !devices.empty();
}

} // namespace hbf::tools::doctor
