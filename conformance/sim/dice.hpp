// SPDX-License-Identifier: Apache-2.0
// The seeded choices of a simulated device (splitmix64).
#pragma once

#include <cstdint>

namespace hbf::sim {

class Dice {
public:
    explicit Dice(uint64_t seed) : state_(seed) {}
    uint64_t below(uint64_t n) { return roll() % n; } // n > 0

private:
    uint64_t roll() {
        uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    uint64_t state_;
};

} // namespace hbf::sim
