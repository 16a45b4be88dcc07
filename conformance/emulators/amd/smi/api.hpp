// SPDX-License-Identifier: Apache-2.0
// ROCm SMI as AMD's header rocm_smi.h of ROCm 5.2 describes it, declared here because no header of the vendor is needed to
// build. Where it is present tests/smi_abi_check.cpp compares.
#pragma once

#include <cstddef>
#include <cstdint>

#define HBF_EXPORTED __attribute__((visibility("default")))

namespace hbf::emulated::smi {

using rsmi_status_t = int;

enum Status : rsmi_status_t {
    SUCCESS = 0,
    INVALID_ARGS = 1,
    NOT_SUPPORTED = 2,
    FILE_ERROR = 3,
    PERMISSION = 4,
    OUT_OF_RESOURCES = 5,
    INIT_ERROR = 8,
    NOT_FOUND = 10,
    INSUFFICIENT_SIZE = 11,
};

struct rsmi_error_count_t {
    uint64_t correctable, uncorrectable;
};
struct rsmi_retired_page_record_t {
    uint64_t address, size;
    int status; // 0: reserved
};
struct rsmi_frequencies_t {
    uint32_t supported, current;
    uint64_t frequency[32];
};
struct rsmi_pcie_bandwidth_t {
    rsmi_frequencies_t transfer_rate;
    uint32_t lanes[32];
};
struct rsmi_version_t {
    uint32_t major, minor, patch;
    const char *build;
};

enum MemoryType : int { VRAM = 0, VISIBLE_VRAM = 1, GTT = 2 };
enum Block : uint64_t { UMC = 1, SDMA = 2, GFX = 4, MMHUB = 8, PCIE_BIF = 0x20, XGMI_WAFL = 0x80 };
enum RasState : int { RAS_DISABLED = 1, RAS_ENABLED = 6 };
enum XgmiStatus : int { XGMI_NO_ERRORS = 0, XGMI_ERROR = 1, XGMI_MULTIPLE_ERRORS = 2 };
enum Sensor : uint32_t { EDGE = 0, JUNCTION = 1, MEMORY = 2 };
enum Clock : int { CLOCK_SYSTEM = 0, CLOCK_MEMORY = 4 };
enum LinkType : int { LINK_UNDEFINED = 0, LINK_PCIE = 1, LINK_XGMI = 2 };

} // namespace hbf::emulated::smi
