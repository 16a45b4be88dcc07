// SPDX-License-Identifier: Apache-2.0
// splitmix64: the same numbers for the same seed everywhere, and cheap enough to be asked inside what is measured.
#pragma once

#include <cstdint>

namespace hbf {

// Its finish: neighbours become strangers, and no two values the same one.
constexpr uint64_t splitmix(uint64_t bits) {
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return bits ^ (bits >> 31);
}

class SplitMix {
public:
    static constexpr uint64_t step = 0x9e3779b97f4a7c15u;

    explicit SplitMix(uint64_t seed) : state_(seed) {}
    uint64_t operator()() { return splitmix(state_ += step); }
    // In [0, n).
    uint64_t below(uint64_t n) { return n == 0 ? 0 : (*this)() % n; }

private:
    uint64_t state_;
};

} // namespace hbf
