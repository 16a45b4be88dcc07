// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor/pci_registers.hpp"

#include <fmt/format.h>

#include "core/host/parse.hpp"
#include "core/host/pci_config.hpp"

namespace hbf::tools::doctor {
namespace {

using host::PciConfig;
using State = PciConfig::Capability::State;

constexpr uint8_t pci_express = 0x10;
constexpr uint16_t acs = 0x000d;
constexpr uint32_t request_redirect = 1 << 2, completion_redirect = 1 << 3, upstream_forwarding = 1 << 4;

std::string file_of(const Pci &pci) {
    return pci.path + "/config";
}

bool is_of(const PciConfig &config, const Pci &pci) {
    const auto first = config.dword(0);
    return first && (*first & 0xffff) == pci.vendor;
}

// The register at `offset` in a capability; nothing if the device has none (`none` is set) or it cannot be told.
std::optional<uint32_t> register_in(Look &look, const Pci &pci, const PciConfig &config, PciConfig::Capability capability,
                                    off_t offset, bool *none) {
    *none = capability.state == State::none;
    if (*none) return std::nullopt;
    const std::string path = look.full(file_of(pci));
    if (!is_of(config, pci) || capability.state == State::broken) {
        look.cannot_tell(path + ": no configuration of this device");
        return std::nullopt;
    }
    const auto value = capability.state == State::there ? config.dword(capability.offset + offset) : std::nullopt;
    if (!value) {
        look.root_only();
        look.cannot_tell(path + ": more than 64 bytes are told to root only");
    }
    return value;
}

} // namespace

std::optional<bool> acs_redirect(Look &look, const Pci &bridge) {
    const auto path = look.need_file(file_of(bridge));
    if (!path) return std::nullopt;
    const PciConfig config(*path);
    bool none = false;
    const auto registers = register_in(look, bridge, config, config.extended(acs), 4, &none);
    if (none && is_of(config, bridge)) {
        look.seen(*path, "no ACS");
        return false;
    }
    if (!registers) {
        if (none) look.cannot_tell(*path + ": no configuration of this device");
        return std::nullopt;
    }
    const uint32_t control = *registers >> 16;
    look.seen(*path,
              fmt::format("ACS control {:#06x}: request redirect {}, completion redirect {}, upstream forwarding {}",
                          control, control & request_redirect ? "on" : "off", control & completion_redirect ? "on" : "off",
                          control & upstream_forwarding ? "on" : "off"));
    return (control & (request_redirect | completion_redirect)) != 0;
}

std::optional<bool> relaxed_ordering(Look &look, const Pci &device) {
    const auto path = look.need_file(file_of(device));
    if (!path) return std::nullopt;
    const PciConfig config(*path);
    bool none = false;
    const auto control = register_in(look, device, config, config.capability(pci_express), 8, &none);
    if (none) look.cannot_tell(*path + ": no PCI Express device");
    if (!control) return std::nullopt;
    look.seen(*path, fmt::format("device control {:#06x}", *control & 0xffff));
    return (*control & 1 << 4) != 0;
}

std::optional<std::vector<uint64_t>> region_sizes(Look &look, const Pci &device) {
    constexpr size_t regions = 6;
    const std::string path = device.path + "/resource";
    const auto text = look.need_text(path);
    if (!text) return std::nullopt;
    std::vector<uint64_t> out;
    for (const std::string_view line : host::lines(*text)) {
        const auto words = host::words(line);
        const auto first = words.size() == 3 ? host::parse_unsigned(words[0]) : std::nullopt;
        const auto last = words.size() == 3 ? host::parse_unsigned(words[1]) : std::nullopt;
        if (!first || !last || *last < *first) break;
        if (out.size() < regions) out.push_back(*last == 0 ? 0 : *last - *first + 1);
    }
    if (out.size() == regions) return out;
    look.garbled(path, "lines with start, end and flags of six regions");
    return std::nullopt;
}

} // namespace hbf::tools::doctor
