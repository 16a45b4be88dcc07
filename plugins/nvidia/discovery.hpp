// SPDX-License-Identifier: Apache-2.0
// The NVIDIA devices of this machine.
//
// The driver opens files and starts threads when it is initialised, and what is wrong with it shows then. So it is asked in
// a forked process, for a limited time. Once an instance has been opened the driver is here anyway, and what was found then
// stays true for the life of the process.
#pragma once

#include <string>
#include <vector>

#include "hbf/sdk/plugin.hpp"
#include "plugins/nvidia/facts.hpp"

namespace hbf::nvidia {

struct Found {
    int ordinal = 0;
    char uuid[48] = {};
    hbf_device_info info{};
};

struct Survey {
    std::vector<Found> devices;
    std::vector<std::string> troubles; // of devices that are left out, a sentence each
};

// `root`: where sysfs and device nodes are looked for, "" is "/". Throws sdk::Failure with the reason's word before the
// message: driver_absent, driver_stub, driver_too_old, permission_denied, no_device.
Survey survey(const std::string &root);

// Those that the option `device` admits. Throws UNAVAILABLE where none is left.
std::vector<Found> select(const Survey &all, const std::string &device);

// Asks in this process, without protection; cuInit included.
Survey ask_here(const Driver &cuda, const std::string &root);

// From now on survey() answers this.
void keep(const Survey &found);

// The driver could not be opened: where the kernel has its half of it, or gave the device to another one, that is said, too.
sdk::Failure open_failure(sdk::Failure failure, const std::string &root);

// Why cuInit or cuDeviceGetCount failed, with what can be done about it.
sdk::Failure init_failure(const Driver &cuda, cuda::Result code, const std::string &root);

// The node of the host that a PCI device is at; -1 unknown.
int numa_node(const std::string &root, const std::string &pci_address);

} // namespace hbf::nvidia
