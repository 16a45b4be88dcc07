// SPDX-License-Identifier: Apache-2.0
// Deterministic random numbers from a seed (splitmix64).
#pragma once

#include <cmath>
#include <cstdint>

namespace hbf::inject {

class Random {
public:
    explicit Random(uint64_t seed) : state_(seed) {}
    uint64_t operator()() {
        uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    uint64_t below(uint64_t n) { return n ? (*this)() % n : 0; }
    // How many events of probability p fail before one comes true.
    uint64_t gap(double p) {
        if (p >= 1) return 0;
        const double uniform = static_cast<double>(((*this)() >> 11) + 1) * 0x1p-53; // (0, 1]
        const double gap = std::log(uniform) / std::log1p(-p);
        return gap < 0x1p62 ? static_cast<uint64_t>(gap) : UINT64_C(1) << 62;
    }

private:
    uint64_t state_;
};

} // namespace hbf::inject
