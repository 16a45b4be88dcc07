// SPDX-License-Identifier: Apache-2.0
// The Cambricon devices of this machine. After CNDrv was started a process must not fork any more (cnInit), and a library
// that crashes or hangs shows it then: so who only looks asks in a forked process, for a limited time, and this one stays as
// it was.
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

// In this process. Throws sdk::Failure where there is none: the reason's word before the message.
Survey survey(const std::string &system_root);

struct Look {
    std::vector<hbf_device_info> devices;
    std::vector<std::string> troubles;
};
// The same from another process, unless CNRT is in this one already.
Look look(const std::string &system_root);

} // namespace hbf::cambricon
