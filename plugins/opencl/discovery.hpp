// SPDX-License-Identifier: Apache-2.0
// The OpenCL devices of this machine, accelerators before CPUs.
//
// Vendors' libraries start threads and open files as soon as they are asked for their devices, and what is wrong with one
// shows then too. So platforms are asked in a forked process, one after the other, each for a limited time: what it finds is
// told here, a platform that crashes or hangs is named and left out, and this process stays as it was. Once an instance has
// been opened the runtime is here anyway, and what was found then stays true for the life of the process.
#pragma once

#include <string>
#include <vector>

#include "hbf/sdk/plugin.hpp"
#include "plugins/opencl/library.hpp"

namespace hbf::opencl {

struct Found {
    uint32_t platform = 0, device = 0; // indices, in the loader's order
    char platform_name[128] = {};
    hbf_device_info info{};
};

struct Survey {
    std::vector<Found> devices;
    std::vector<std::string> troubles; // of platforms and devices that are left out, a sentence each
};

// Of all platforms. Throws sdk::Failure where there is no loader, or none of its platforms has a device: UNAVAILABLE with
// the reason's word before the message.
Survey survey();

// Those that the options `platform` and `device` admit. Throws UNAVAILABLE where none is left.
std::vector<Found> select(const Survey &all, const sdk::Options &options);

struct OpenedDevice {
    cl_platform_id platform;
    cl_device_id device;
};

// In this process. Throws UNAVAILABLE where the device is not there any more.
OpenedDevice open_device(const Functions &cl, const Found &found, const Survey &all);

} // namespace hbf::opencl
