// SPDX-License-Identifier: Apache-2.0
// Which transfers a run measures.
#pragma once

#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "tools/bandwidth/machine.hpp"
#include "tools/bandwidth/options.hpp"

namespace hbf::tools::bandwidth {

struct RowSpec {
    size_t src = 0, dst = 0; // places
    bool operator==(const RowSpec &) const = default;
};

bool is_storage(const TierInfo &tier);  // reached by queue commands only, on a block device, in files or objects
std::string kind_name(TierKind kind);   // "hbm"
std::string media_name(uint32_t media); // "DRAM"
std::string label(const Machine &machine, size_t place); // "dram0 (hbm, DRAM, node 0)"

// Memory tiers copy within themselves; storage is written from and read into the first memory tier of its device. With
// `matrix` every ordered pair. The error names an unknown tier or device, with the nearest known one.
tl::expected<std::vector<RowSpec>, std::string> choose_rows(const Machine &machine, const Options &options);

} // namespace hbf::tools::bandwidth
