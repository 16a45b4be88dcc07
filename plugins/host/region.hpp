// SPDX-License-Identifier: Apache-2.0
// What a region of the host plugin is: a piece of memory or a storage file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "hbf/sdk/region_table.hpp"

namespace hbf::host {

class StorageFile; // storage/storage_tier.hpp

struct HostRegion {
    std::byte *address = nullptr;      // memory; nullptr for storage
    uint64_t size = 0;                 // bytes, as asked for
    uint64_t page_size = 0;            // bytes, verified; 0 for storage
    uint32_t tier = HBF_TIER_NONE;     // index; HBF_TIER_NONE for registered memory, which is not ours to unmap
    uint64_t mapped = 0;               // bytes to unmap, 0 for storage and registered memory
    std::shared_ptr<StorageFile> file; // storage
};

using RegionTable = sdk::RegionTable<HostRegion>;

} // namespace hbf::host
