// SPDX-License-Identifier: Apache-2.0
// Deterministic random numbers from a seed.
#pragma once

#include <cmath>
#include <cstdint>

#include "conformance/measure/splitmix.hpp"

namespace hbf::inject {

class Random : public SplitMix {
public:
    using SplitMix::SplitMix;
    // How many events of probability p fail before one comes true.
    uint64_t gap(double p) {
        if (p >= 1) return 0;
        const double uniform = static_cast<double>(((*this)() >> 11) + 1) * 0x1p-53; // (0, 1]
        const double gap = std::log(uniform) / std::log1p(-p);
        return gap < 0x1p62 ? static_cast<uint64_t>(gap) : UINT64_C(1) << 62;
    }
};

} // namespace hbf::inject
