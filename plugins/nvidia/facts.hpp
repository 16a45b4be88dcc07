// SPDX-License-Identifier: Apache-2.0
// What the driver says of a device, without a context on it.
#pragma once

#include <string>

#include "plugins/nvidia/library.hpp"

namespace hbf::nvidia {

struct DeviceFacts {
    cuda::Device device = 0;
    int ordinal = 0;
    std::string name;
    std::string uuid;        // "GPU-...", 16 bytes in hexadecimal
    std::string pci_address; // "0000:3b:00.0", in small letters; "" if the driver tells none
    uint64_t memory = 0;     // bytes
    int major = 0, minor = 0;
    int multiprocessors = 0, copy_engines = 0, bus_width = 0;
    uint64_t l2_bytes = 0, max_persisting_l2 = 0, max_window = 0;
    int compute_mode = 0; // 2: nobody may, 3: one process
    int host_numa_id = -1;
    bool unified_addressing = false, virtual_memory = false, host_register = false, mps = false;
    // Coherent over a chip-to-chip link: the device walks the CPU's page tables, and atomics work both ways.
    bool host_page_tables = false, host_native_atomics = false, pageable_access = false;

    bool coherent_link() const { return pageable_access && host_page_tables && host_native_atomics; }
    // An emulated driver says so in the names of its devices, and what is measured there is no hardware's.
    bool emulated() const { return name.ends_with(" (emulated)"); }
    std::string architecture() const { return "sm_" + std::to_string(major) + std::to_string(minor); }
};

// Throws sdk::Failure where the driver does not answer what every driver knows.
DeviceFacts read_facts(const Driver &cuda, int ordinal);

int attribute(const Driver &cuda, cuda::Device device, int which, int otherwise) noexcept;

} // namespace hbf::nvidia
