// SPDX-License-Identifier: Apache-2.0
// The Cambricon devices of this machine. The host asks in a process of its own, with a limit of time, so that a library that
// crashes or hangs in its start does so there.
#pragma once

#include <string>
#include <vector>

#include "hbf/sdk/plugin.hpp"
#include "plugins/cambricon/device_facts.hpp"

namespace hbf::cambricon {

struct Found {
    DeviceFacts facts;
    hbf_device_info info{};
};

struct Survey {
    std::vector<Found> devices;
    std::vector<std::string> troubles; // of devices that are left out, a sentence each
};

// Throws sdk::Failure where there is none: the reason's word before the message.
Survey survey(const std::string &system_root);

} // namespace hbf::cambricon
