// SPDX-License-Identifier: Apache-2.0
// Two transfers at the same time, one each way, each with its own queue and thread: three numbers.
#pragma once

#include "tools/bandwidth/live.hpp"

namespace hbf::tools::bandwidth {

// After warm-up: each way repeats its bytes until both take about as long, so that neither is alone for a large part.
void balance(Live &forward, Live &backward, Live &both);
void sample_both(Live &forward, Live &backward, Live &both);
// The sum is worth what its parts are worth.
void settle(const Live &forward, const Live &backward, Live &both);

} // namespace hbf::tools::bandwidth
