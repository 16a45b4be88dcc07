// SPDX-License-Identifier: Apache-2.0
// A kernel: code that a device has for its own processors. The handle is plain data and means something to the queues of
// its own device only; used elsewhere it is an error, never a crash.
#pragma once

#include <cstdint>
#include <string>

#include "hbf/abi/command.h"
#include "hbf/region.hpp"

namespace hbf {

struct Kernel {
    uint32_t device = 0;         // process-wide device number; 0: no kernel
    uint32_t buffer_count = 0;   // buffers a launch must name
    uint64_t id = 0;             // the plugin's
    uint64_t arguments_size = 0; // bytes a launch must pass
    uint32_t max_group_size = 0; // work-items
    explicit operator bool() const { return device != 0; }
};

struct KernelInfo {
    Kernel kernel;
    uint32_t concurrent_groups = 1; // run at the same time for certain: agents that wait for each other must not be more
    std::string name;               // "crc32c/1"
    std::string origin;             // "prebuilt sm_90", "built at run time", ...
};

// What a kernel does with a buffer, bits.
inline constexpr uint32_t kernel_reads = HBF_KERNEL_READS, kernel_writes = HBF_KERNEL_WRITES;

// One range that a kernel is given, in memory that the device's processors reach (TierInfo.device_access).
struct KernelBuffer {
    Region region;
    uint64_t offset = 0; // bytes, a multiple of 8
    uint64_t size = 0;   // bytes, > 0
    uint32_t access = 0; // kernel_reads, kernel_writes or both
};

} // namespace hbf
