// SPDX-License-Identifier: Apache-2.0
// The configuration space of one PCI function. Reads only what is asked for: each read is an access to the device.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include <sys/types.h>

namespace hbf::host {

class PciConfig {
public:
    explicit PciConfig(const std::filesystem::path &config); // .../0000:3b:00.0/config
    ~PciConfig();
    PciConfig(const PciConfig &) = delete;
    PciConfig &operator=(const PciConfig &) = delete;

    std::optional<uint32_t> dword(off_t offset) const; // little-endian; nothing beyond what this user may read

    struct Capability {
        // Unreadable: an ordinary user gets the first 64 bytes only. Broken: no list that any device has.
        enum class State { there, none, unreadable, broken } state = State::unreadable;
        off_t offset = 0; // if it is there
    };
    Capability capability(uint8_t id) const; // of the first 256 bytes
    Capability extended(uint16_t id) const;  // of PCI Express devices

private:
    int fd_;
};

} // namespace hbf::host
