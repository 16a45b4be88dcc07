// SPDX-License-Identifier: Apache-2.0
// The HIP devices of this machine.
//
// The runtime starts threads and opens files as soon as it is asked for devices. So it is asked in a forked process
// (stream/child.hpp), unless it is in this one already: then its answers do not change any more.
#pragma once

#include <string>
#include <vector>

#include "hbf/sdk/plugin.hpp"
#include "plugins/amd/device_facts.hpp"

namespace hbf::amd {

struct Found {
    int ordinal = 0;
    hbf_device_info info{};
};

struct Survey {
    std::vector<Found> devices;
    std::vector<std::string> troubles; // of devices that are left out, a sentence each
};

// Throws sdk::Failure where there is no runtime or no device, the reason's word before the message. `root`: where sysfs and
// /dev of the machine lie.
Survey survey(const std::string &root);

// Those that the option `device` admits. Throws UNAVAILABLE where none is left.
std::vector<Found> select(const Survey &all, const std::string &device);

// In this process. Throws UNAVAILABLE where the device is not there any more.
DeviceFacts open_device(const Found &found, const Survey &all);

// In this process, whatever becomes of it; for survey() and tests.
Survey ask_here(const std::string &root);

} // namespace hbf::amd
