// SPDX-License-Identifier: Apache-2.0
// What a device says of itself, by attributes: their numbers are the same from HIP 5.2 on, structs are not.
#pragma once

#include <cstdint>
#include <string>

#include "plugins/amd/library.hpp"

namespace hbf::amd {

struct DeviceFacts {
    int ordinal = 0;         // HIP's, in the order of HIP_VISIBLE_DEVICES
    std::string name;        // "AMD Instinct MI300X"
    std::string pci_address; // "0000:c1:00.0"
    uint32_t compute_units = 1;
    uint32_t shared_memory = 0; // bytes of a group
    uint32_t block[3] = {1024, 1024, 1024}, grid[3] = {0x7fffffff, 0xffff, 0xffff};
    bool integrated = false; // MI300A: its memory is the host's
    bool ecc = false;
    bool svm = false;   // the kernel moves pages of both (HMM)
    bool xnack = false; // the device may fault on any page of the process
    bool large_bar = false;

    bool emulated() const { return name.ends_with("(emulated)"); } // a runtime that says so is believed
};

// Throws sdk::Failure with the code's name.
DeviceFacts facts_of(const Hip &hip, int ordinal);

// "0000:C1:00.0" as sysfs writes it; "" if it is no address of PCI.
std::string normal_pci_address(const std::string &text);

} // namespace hbf::amd
