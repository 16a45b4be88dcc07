// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace hbf::measure {

// 0 to count - 1 in random order, the same for the same seed with every standard library.
inline std::vector<uint64_t> shuffled(uint64_t count, uint64_t seed) {
    std::vector<uint64_t> out(count);
    std::iota(out.begin(), out.end(), uint64_t{0});
    std::mt19937_64 random(seed);
    for (uint64_t i = count; i > 1; --i) std::swap(out[i - 1], out[random() % i]);
    return out;
}

} // namespace hbf::measure
