// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace hbf::litmus {

// splitmix64: the same numbers for the same seed everywhere, and cheap enough to be asked before each instance.
class Random {
public:
    explicit Random(uint64_t seed) : state_(seed) {}
    uint64_t operator()() {
        uint64_t bits = (state_ += 0x9e3779b97f4a7c15u);
        bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
        bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
        return bits ^ (bits >> 31);
    }
    uint64_t below(uint64_t n) { return n == 0 ? 0 : (*this)() % n; }

private:
    uint64_t state_;
};

} // namespace hbf::litmus
