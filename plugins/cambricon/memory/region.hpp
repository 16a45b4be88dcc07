// SPDX-License-Identifier: Apache-2.0
// A region of an MLU, of pinned memory of the host, or of the caller's memory.
#pragma once

#include "plugins/cambricon/api.hpp"
#include "plugins/stream/region.hpp"

namespace hbf::cambricon {

enum class Sort : uint8_t {
    device,     // cnrtMalloc: the CPU sees nothing
    pinned,     // cnrtHostMalloc: DMA goes there directly
    registered, // the caller's. CNRT pins no memory that it did not allocate, so bytes go through pinned memory
};

class Tiers;

struct Region final : stream::Region {
    Sort sort = Sort::device;
    uint64_t taken = 0;        // bytes of the tier
    void *allocated = nullptr; // as the runtime gave it; nullptr for registered memory
    Tiers *tiers = nullptr;    // gets it back

    ~Region() override;
};

inline Sort sort_of(const stream::Region *region) noexcept {
    return static_cast<const Region *>(region)->sort;
}

} // namespace hbf::cambricon
