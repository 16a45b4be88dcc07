// SPDX-License-Identifier: Apache-2.0
// What drivers and devices say of themselves.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "plugins/level_zero/library.hpp"

namespace hbf::level_zero {

inline constexpr uint32_t no_group = UINT32_MAX;

struct DeviceFacts {
    std::string name, uuid, pci_address; // "" where no extension tells
    uint32_t api_version = 0, driver_version = 0;
    uint32_t type = 0, flags = 0, modules = 0; // ze_device_type_t, ze_device_property_flags_t, ze_device_module_flags_t
    uint64_t memory = 0, largest = 0;          // bytes: all of it, one allocation
    uint32_t units = 1;                        // that each run a group
    uint32_t host_access = 0, shared_access = 0;
    uint32_t most_items = 1, local_bytes = 0, argument_bytes = 0;
    std::array<uint32_t, 3> group_extent{1, 1, 1}, group_count{1, 1, 1};
    uint32_t compute_group = no_group, copy_group = no_group; // ordinals; the second only of engines that just copy

    bool integrated() const { return (flags & ze::integrated) != 0; }
    bool emulated() const { return name.ends_with("(emulated)"); }
};

// Throws sdk::Failure with the code's name.
DeviceFacts read_facts(const Functions &ze, ze::Driver driver, ze::Device device);

} // namespace hbf::level_zero
