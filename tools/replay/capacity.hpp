// SPDX-License-Identifier: Apache-2.0
// Capacities as people write them: "5%" of the trace's different blocks, "64GiB" of KV bytes, "2000" blocks.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "tools/replay/trace.hpp"

namespace hbf::replay {

struct Capacity {
    std::string text;
    size_t blocks;
};

// A share is rounded to the nearest block, at least one. The error names the value and the remedy.
tl::expected<Capacity, std::string> parse_capacity(const std::string &text, const Trace &trace, uint64_t bytes_per_token);

} // namespace hbf::replay
