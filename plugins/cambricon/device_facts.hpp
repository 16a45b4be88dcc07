// SPDX-License-Identifier: Apache-2.0
// What CNRT and CNDrv say of one device.
#pragma once

#include <cstdint>
#include <string>

#include "plugins/cambricon/library.hpp"

namespace hbf::cambricon {

struct DeviceFacts {
    int ordinal = 0;         // of this process: MLU_VISIBLE_DEVICES changes it
    std::string name;        // "MLU370-X4"
    std::string driver;      // "CNRT 6.14.1, CNDrv 2.15.5, kernel driver 5.10.22"
    std::string pci_address; // "0000:5e:00.0", in small letters
    int numa_node = -1;
    uint64_t memory = 0, free = 0; // bytes
    uint64_t bandwidth = 0;        // bytes/s of its memory, from clock and width of its bus; 0: it says neither
    bool ecc = false;
    int clusters = 0;

    bool emulated() const { return name.ends_with("(emulated)"); } // a runtime that says so is believed
};

// With the device as the thread's current one. Throws sdk::Failure.
DeviceFacts facts_of(const Library &library, int ordinal, const std::string &system_root);

} // namespace hbf::cambricon
