// SPDX-License-Identifier: Apache-2.0
// The PCI devices of a machine, as far as the checks tell them apart.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/doctor/look.hpp"
#include "tools/doctor/vendors.hpp"

namespace hbf::tools::doctor {

struct Pci {
    std::string address, path; // "0000:3b:00.0", "sys/bus/pci/devices/0000:3b:00.0"
    uint32_t class_code = 0;   // 24 bit
    uint16_t vendor = 0;
    std::string driver;             // bound kernel driver, "" none
    std::vector<std::string> above; // bridges between it and the root, topmost first
    bool place_known = false;       // `above` is all of them

    uint32_t base_and_sub() const { return class_code >> 8; }
    bool bridge() const { return base_and_sub() == 0x0604; }
    bool nvme() const { return base_and_sub() == 0x0108; }
    bool rdma() const { return base_and_sub() == 0x0207; } // InfiniBand
    bool cxl_memory() const { return base_and_sub() == 0x0502; }
    bool accelerator() const; // 3D controllers, processing accelerators, and graphics cards that compute
    std::string name() const; // "NVIDIA device 0000:3b:00.0"
};

// By address. A device whose numbers cannot be read is a doubt: it could be any.
std::vector<Pci> pci_devices(Look &look);

std::vector<Pci> accelerators(Look &look);

// Those that could read and write each other's memory: accelerators, and with one of these drives and InfiniBand cards.
// Fewer than two: none.
std::vector<Pci> peers(Look &look);

// The bridges on the way between them; every bridge of the machine where the way is not known.
std::vector<Pci> bridges_between(Look &look, const std::vector<Pci> &devices);

// Says "not applicable" and gives false where there are none.
bool any(Look &look, const std::vector<Pci> &devices, const char *what);

} // namespace hbf::tools::doctor
