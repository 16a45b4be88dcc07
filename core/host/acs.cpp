// SPDX-License-Identifier: Apache-2.0
// Which PCI bridges send traffic between their devices up to the root complex (ACS request redirect): where they do, a
// transfer between two devices below one switch is slower, or does not work at all.
#include <fmt/format.h>

#include "core/host/pci_config.hpp"
#include "core/host/sections.hpp"

namespace hbf::host {
namespace {

constexpr uint16_t bridge_class = 0x0604, acs_id = 0x000d;
constexpr uint32_t request_redirect = 1u << 2;

enum class Redirect { off, on, unreadable, broken };

Redirect redirect_of(const std::filesystem::path &path) {
    const PciConfig config(path);
    const auto acs = config.extended(acs_id);
    if (acs.state == PciConfig::Capability::State::none) return Redirect::off;
    if (acs.state == PciConfig::Capability::State::broken) return Redirect::broken;
    if (acs.state != PciConfig::Capability::State::there) return Redirect::unreadable;
    const auto registers = config.dword(acs.offset + 4); // capability, control
    if (!registers) return Redirect::unreadable;
    return *registers >> 16 & request_redirect ? Redirect::on : Redirect::off;
}

} // namespace

void read_acs(Reader &reader, Inventory &out) {
    Setting setting;
    setting.source = reader.full("sys/bus/pci/devices/*/config").string();
    std::string redirecting;
    for (const PciDevice &device : out.pci) {
        if (device.class_code >> 8 != bridge_class) continue;
        const auto config = std::filesystem::path("sys/bus/pci/devices") / device.address / "config";
        switch (redirect_of(reader.full(config))) {
        case Redirect::off:
            break;
        case Redirect::on:
            redirecting += (redirecting.empty() ? "" : ",") + device.address;
            break;
        case Redirect::unreadable:
            setting.error =
                fmt::format("{}: its extended part cannot be read (only root may)", reader.full(config).string());
            break;
        case Redirect::broken:
            setting.error = fmt::format("{}: no list of capabilities that any device has", reader.full(config).string());
        }
    }
    if (setting.error.empty()) setting.value = redirecting.empty() ? "none" : redirecting;
    out.settings["acs_redirect"] = std::move(setting);
}

} // namespace hbf::host
