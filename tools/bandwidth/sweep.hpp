// SPDX-License-Identifier: Apache-2.0
// One transfer in many shapes: the size of a copy, the depth of the queue, a list of blocks against one contiguous copy, and
// a granule that stays in the cache.
#pragma once

#include <vector>

#include "tools/bandwidth/rows.hpp"

namespace hbf::tools::bandwidth {

// In the order of their worth, for a run whose time is bounded. Copies of more than `largest` bytes are left out.
std::vector<RowSpec> sweep_of(const RowSpec &row, bool storage, uint64_t largest);

} // namespace hbf::tools::bandwidth
