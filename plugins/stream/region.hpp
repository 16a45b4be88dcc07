// SPDX-License-Identifier: Apache-2.0
// A region of a device with streams. A plugin derives its own, whose destructor gives the memory back to the runtime.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "hbf/abi/tier.h"
#include "hbf/sdk/region_table.hpp"

namespace hbf::stream {

struct Region {
    uint32_t tier = HBF_TIER_NONE; // registered memory of the host has none
    uint64_t size = 0;             // usable bytes, as asked for
    uint64_t page_size = 0;        // as far as pages apply
    uint64_t at = 0;               // what the runtime calls its first byte, for copies, fills and kernels
    std::byte *host = nullptr;     // where the CPU sees it; nullptr: nowhere
    bool for_kernels = false;      // HBF_ACCESS_DEVICE
    bool file = false;             // its bytes are the plugin's storage: `at` is a place there, and no address

    Region() = default;
    Region(const Region &) = delete;
    Region &operator=(const Region &) = delete;
    virtual ~Region() = default;
};

using Regions = sdk::RegionTable<std::unique_ptr<Region>>;

} // namespace hbf::stream
