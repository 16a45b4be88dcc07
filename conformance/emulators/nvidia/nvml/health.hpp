// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "conformance/sim/model/machine.hpp"

namespace hbf::emulated::nvml {

uint64_t count_of(model::Device &device, model::Counter counter);
bool ecc_on(model::Device &device);

// The NVLinks of a device, numbered from 0: 18 at most. More than that between the peers of a profile means that they go
// through switches, each to all.
struct NvLink {
    const model::ProfileLink *profile = nullptr;
    int peer = -1; // of the machine; -1: a switch
    bool up = false;
};
uint32_t nvlink_count(const model::Device &device);
bool nvlink(const model::Device &device, uint32_t number, NvLink &out); // false: there is none of that number

} // namespace hbf::emulated::nvml
