// SPDX-License-Identifier: Apache-2.0
// A device's own checksum kernel: what Integrity::kernel is served by.
#pragma once

#include <cstdint>
#include <string>

#include "core/fabric/crc_records.hpp"
#include "hbf/kernel.hpp"
#include "hbf/status.hpp"

namespace hbf::fabric {

class DeviceCore;

struct CrcKernel {
    static constexpr uint32_t most_pieces = 2048;                      // checksums of one launch
    static constexpr uint64_t most_bytes = most_pieces * granule_size; // that they are of

    Kernel kernel;
    uint32_t tier = 0;   // where its words go: kernels reach it
    bool mapped = false; // the CPU reads them there as they are; else they are copied out
};

// Builds it if need be. The error says why copies of this device are verified otherwise.
Result<CrcKernel> find_crc_kernel(const DeviceCore &device);

// A launch over `size` bytes, at most CrcKernel::most_bytes: `buffers` are the bytes and the words. The arguments are in
// `size`, which has to live until submit returned.
hbf_launch crc_launch(const CrcKernel &crc, const hbf_kernel_buffer (&buffers)[2], const uint64_t &size);

} // namespace hbf::fabric
