// SPDX-License-Identifier: Apache-2.0
// What platforms and devices say of themselves.
#pragma once

#include <cstdint>
#include <string>

#include "plugins/opencl/library.hpp"

namespace hbf::opencl {

struct PlatformFacts {
    std::string name, vendor, version; // "Portable Computing Language", "The pocl project", "OpenCL 3.0 PoCL 3.1 ..."
};

struct DeviceFacts {
    std::string name, vendor, driver, version, extensions, platform;
    uint32_t version_major = 1, version_minor = 0; // of OpenCL
    bool cpu = false;                              // CL_DEVICE_TYPE_CPU: this machine's CPUs
    bool available = false, compiler = false;
    bool unified = false;                        // the device uses the host's memory
    uint64_t memory = 0, largest = 0, local = 0; // bytes: global memory, one allocation, a group's
    uint64_t line = 64, alignment = 1;           // bytes: cache line, start of every buffer; powers of two
    uint32_t units = 1;                          // compute units
    uint64_t svm = 0;                            // CL_DEVICE_SVM_* bits, 0 below 2.0
    std::string pci_address;                     // "" where no extension tells

    bool at_least(uint32_t major, uint32_t minor) const {
        return version_major > major || (version_major == major && version_minor >= minor);
    }
    bool has(std::string_view extension) const; // whole words of `extensions`
};

// Throw sdk::Failure with the code's name.
PlatformFacts facts_of(const Functions &cl, cl_platform_id platform);
DeviceFacts facts_of(const Functions &cl, cl_device_id device);

} // namespace hbf::opencl
