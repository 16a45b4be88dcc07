// SPDX-License-Identifier: Apache-2.0
// Whether memory has the coherence class it was asked for, by the runtime's own word: hipMemRangeGetAttribute.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "plugins/amd/options.hpp"

namespace hbf::amd {

struct Verified {
    enum class Is { as_asked, otherwise, unknown } is = Is::unknown;
    std::string words; // "hipMemRangeGetAttribute says fine", or why it says nothing
};

Verified verify_class(const std::byte *at, uint64_t size, CoherenceClass wanted);

} // namespace hbf::amd
