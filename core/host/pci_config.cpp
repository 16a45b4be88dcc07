// SPDX-License-Identifier: Apache-2.0
#include "core/host/pci_config.hpp"

#include <array>

#include <fcntl.h>
#include <unistd.h>

namespace hbf::host {
namespace {

constexpr uint32_t gone = 0xffffffff; // what a device that does not answer reads as
constexpr off_t first_extended = 0x100, last_of_conventional = 0xfc;
constexpr int most_capabilities = 48, most_extended = 128; // more do not fit, or nearly so: a list that runs in a circle

using State = PciConfig::Capability::State;

} // namespace

PciConfig::PciConfig(const std::filesystem::path &config) : fd_(open(config.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}

PciConfig::~PciConfig() {
    if (fd_ >= 0) close(fd_);
}

std::optional<uint32_t> PciConfig::dword(off_t offset) const {
    std::array<unsigned char, 4> raw{};
    if (fd_ < 0 || pread(fd_, raw.data(), raw.size(), offset) != static_cast<ssize_t>(raw.size())) return std::nullopt;
    return raw[0] | uint32_t{raw[1]} << 8 | uint32_t{raw[2]} << 16 | uint32_t{raw[3]} << 24;
}

PciConfig::Capability PciConfig::capability(uint8_t id) const {
    const auto status = dword(0x04), first = dword(0x34);
    if (!status || !first) return {State::unreadable, 0};
    if (*status == gone) return {State::broken, 0};
    if (!(*status >> 16 & 0x10)) return {State::none, 0}; // it has no list
    off_t offset = *first & 0xfc;
    for (int hops = 0; hops < most_capabilities; ++hops) {
        if (offset == 0) return {State::none, 0};
        const auto header = dword(offset);
        if (!header) return {State::unreadable, 0};
        if (*header == gone || offset < 0x40) return {State::broken, 0};
        if ((*header & 0xff) == id) return {State::there, offset};
        offset = *header >> 8 & 0xfc;
    }
    return {State::broken, 0};
}

PciConfig::Capability PciConfig::extended(uint16_t id) const {
    off_t offset = first_extended;
    for (int hops = 0; hops < most_extended; ++hops) {
        const auto header = dword(offset);
        if (!header) {
            // A conventional device has no extended part; an ordinary user sees not even the whole conventional one.
            return {hops == 0 && dword(last_of_conventional) ? State::none : State::unreadable, 0};
        }
        if (*header == gone) return {State::broken, 0};
        if (*header == 0) return {State::none, 0};
        if ((*header & 0xffff) == id) return {State::there, offset};
        offset = *header >> 20 & 0xffc;
        if (offset == 0) return {State::none, 0};
        if (offset < first_extended) return {State::broken, 0};
    }
    return {State::broken, 0};
}

} // namespace hbf::host
