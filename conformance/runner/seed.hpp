// SPDX-License-Identifier: Apache-2.0
// A case's own seed: the same for the same base seed and name, whatever else runs, so one case replays alone.
#pragma once

#include <cstdint>
#include <string_view>

#include "conformance/measure/splitmix.hpp"

namespace hbf::conformance {

inline uint64_t case_seed(uint64_t base, std::string_view name) {
    uint64_t hash = 0xcbf29ce484222325u; // FNV-1a
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return splitmix(base ^ hash); // neighbouring bases give seeds far apart
}

} // namespace hbf::conformance
