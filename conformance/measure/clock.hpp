// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace hbf::measure {

using Clock = std::chrono::steady_clock;

inline double seconds_between(Clock::time_point begin, Clock::time_point end) {
    return std::chrono::duration<double>(end - begin).count();
}

// The smallest step the clock was seen to make, in seconds: a sample must be much longer.
double clock_step();

} // namespace hbf::measure
