// SPDX-License-Identifier: Apache-2.0
// The links of the machine as they are now: the profile's, less what faults did to them.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/sim/model/profile.hpp"

namespace hbf::model {

struct LinkState {
    const ProfileLink *profile = nullptr;
    int a = -1, b = -1; // devices by index; -1: no device (host, node, cxl)
    uint32_t generation = 0, width = 0;
    uint32_t lanes_up = 0; // of profile->lanes
    uint64_t bandwidth = 0;
    PeerAccess peer = PeerAccess::none; // as it works
    bool peer_advertised = false;       // as it is said
    bool up() const noexcept { return lanes_up != 0; }
};

} // namespace hbf::model
