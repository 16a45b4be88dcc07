// SPDX-License-Identifier: Apache-2.0
#include "conformance/measure/clock.hpp"

#include <algorithm>

namespace hbf::measure {

double clock_step() {
    double least = 1;
    for (int i = 0; i < 100; ++i) {
        const auto begin = Clock::now();
        auto end = Clock::now();
        while (end == begin) end = Clock::now();
        least = std::min(least, seconds_between(begin, end));
    }
    return least;
}

} // namespace hbf::measure
