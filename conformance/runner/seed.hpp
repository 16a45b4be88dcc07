// SPDX-License-Identifier: Apache-2.0
// A case's own seed: the same for the same base seed and name, whatever else runs, so one case replays alone.
#pragma once

#include <cstdint>
#include <string_view>

namespace hbf::conformance {

inline uint64_t case_seed(uint64_t base, std::string_view name) {
    uint64_t hash = 0xcbf29ce484222325u; // FNV-1a
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    uint64_t z = base ^ hash; // splitmix64's finish: neighbouring bases give seeds far apart
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

} // namespace hbf::conformance
