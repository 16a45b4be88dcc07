// SPDX-License-Identifier: Apache-2.0
// Host memory that this process has registered with the driver, counted.
//
// The driver registers a range once in a process, for all devices, and says "already registered" of parts of it. Regions of
// several instances, on several devices, may name the same memory, and the first one to end must not take it from the rest.
#pragma once

#include <cstdint>

#include "plugins/nvidia/context.hpp"

namespace hbf::nvidia {

// A share in a registered range; ends with it.
class HostRange {
public:
    // Throws sdk::Failure: BUSY where the driver has another range registered that covers part of it, else as the driver
    // says.
    HostRange(const Context &context, void *address, uint64_t size);
    ~HostRange();
    HostRange(const HostRange &) = delete;
    HostRange &operator=(const HostRange &) = delete;
    uint64_t on_device() const { return on_device_; } // its first byte, as the device names it
    // The program has registered it itself, without us: it must stay so as long as the region lives.
    bool foreign() const { return begin_ == 0; }

private:
    uint64_t begin_ = 0; // of the range it has a share in
    uint64_t on_device_ = 0;
};

} // namespace hbf::nvidia
