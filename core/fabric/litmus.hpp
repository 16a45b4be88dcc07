// SPDX-License-Identifier: Apache-2.0
// Message passing between agents, to see whether a domain behaves as declared.
#pragma once

#include <cstdint>
#include <string>

#include "hbf/status.hpp"

namespace hbf::fabric {

class DeviceCore;

struct LitmusRun {
    uint64_t trials = 0, stale = 0;
    double milliseconds = 0;
    std::string not_observable; // why there was nothing to observe; "" otherwise
};

// CPU store -> copy engine -> CPU load, `trials` times or until time is up. With `explicit_operations` flush and invalidate
// go around, as in a software domain. An error is one of the device, not a result.
Result<LitmusRun> through_copy_engine(DeviceCore &device, uint32_t tier, bool explicit_operations);

// Data, then a flag, from one CPU to another, in the tier's memory. Nothing to observe on one CPU.
Result<LitmusRun> between_cpus(DeviceCore &device, uint32_t tier);

} // namespace hbf::fabric
