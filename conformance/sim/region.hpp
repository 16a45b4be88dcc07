// SPDX-License-Identifier: Apache-2.0
// A region: its bytes, and the CPU's shadow of them where its domain is software.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "conformance/sim/named_file.hpp"
#include "conformance/sim/store.hpp"
#include "hbf/sdk/region_table.hpp"

namespace hbf::sim {

struct Region {
    uint32_t tier = 0;            // HBF_TIER_NONE: registered host memory
    uint64_t size = 0, taken = 0; // bytes usable, bytes of the tier
    NamedFile file = {};          // of a named region
    Store store;
    std::optional<Shadow> shadow = std::nullopt;
    bool live = false;    // the CPU looks at the store itself
    bool kernels = false; // kernels reach it
};

using Regions = sdk::RegionTable<std::unique_ptr<Region>>;

} // namespace hbf::sim
