// SPDX-License-Identifier: Apache-2.0
// The GPUs that Level Zero knows on this machine.
//
// Drivers start threads and open files as soon as they are asked. So they are asked in a forked process (stream/child.hpp),
// unless an instance was opened here before: then the driver is in this process anyway, and its answers do not change.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "hbf/sdk/plugin.hpp"
#include "plugins/level_zero/facts.hpp"

namespace hbf::level_zero {

struct Found {
    uint32_t driver = 0, device = 0; // in the loader's order
    char uuid[40] = {};
    hbf_device_info info{};
};

struct Survey {
    std::vector<Found> devices;
    std::vector<std::string> troubles; // of those that are left out, a sentence each
};

// `root`: of the inventory, for device nodes and NUMA nodes. `limit`: for the drivers to answer in; a host gives a probe ten
// seconds. Throws sdk::Failure with the reason's word where none serves.
Survey survey(const std::string &root, std::chrono::milliseconds limit = std::chrono::seconds(8));
std::vector<Found> select(const Survey &all, const std::string &device); // "" admits all; throws where none is left

struct Opened {
    ze::Driver driver;
    ze::Device device;
    DeviceFacts facts;
};
// In this process, where the driver stays from now on. Throws where the device is not there any more.
Opened open_device(const Functions &ze, const Found &found, const Survey &all, const std::string &root);

} // namespace hbf::level_zero
