// SPDX-License-Identifier: Apache-2.0
// Which PCI bridges send traffic between their devices up to the root complex (ACS request redirect): where they do, a
// transfer between two devices below one switch is slower, or does not work at all.
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "core/host/sections.hpp"

namespace hbf::host {
namespace {

constexpr uint16_t bridge_class = 0x0604;
constexpr uint32_t acs_id = 0x000d, request_redirect = 1u << 2;

enum class Redirect { off, on, unreadable };

std::optional<uint32_t> dword(int fd, off_t offset) {
    std::array<unsigned char, 4> raw{};
    if (pread(fd, raw.data(), raw.size(), offset) != static_cast<ssize_t>(raw.size())) return std::nullopt;
    return raw[0] | uint32_t{raw[1]} << 8 | uint32_t{raw[2]} << 16 | uint32_t{raw[3]} << 24;
}

// Walks the list of extended capabilities; reads only the headers, as each read is an access to the device.
Redirect redirect_of(const std::filesystem::path &config) {
    const int fd = open(config.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return Redirect::unreadable;
    Redirect answer = Redirect::off;
    off_t offset = 0x100;
    for (int hops = 0; hops < 128 && offset >= 0x100 && offset < 0x1000; ++hops) {
        const auto header = dword(fd, offset);
        if (!header) {
            // An ordinary user gets 64 bytes only. A conventional device has no extended space, which reads as short, too.
            answer = geteuid() == 0 ? Redirect::off : Redirect::unreadable;
            break;
        }
        if ((*header & 0xffff) == acs_id) {
            const auto registers = dword(fd, offset + 4); // capability, control
            if (!registers)
                answer = Redirect::unreadable;
            else if ((*registers >> 16) & request_redirect)
                answer = Redirect::on;
            break;
        }
        offset = *header >> 20;
    }
    close(fd);
    return answer;
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
        }
    }
    if (setting.error.empty()) setting.value = redirecting.empty() ? "none" : redirecting;
    out.settings["acs_redirect"] = std::move(setting);
}

} // namespace hbf::host
