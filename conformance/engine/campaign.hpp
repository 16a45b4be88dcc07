// SPDX-License-Identifier: Apache-2.0
// The engine over a faulty device: whatever is asked of it, an answer is right or there is none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hbf/status.hpp"

namespace hbf::campaign {

struct Round {
    uint64_t seed = 0;
    std::string fault;     // as the wrapper takes it; "": none
    uint64_t answers = 0;  // right ones
    uint64_t errors = 0;   // that were said
    uint64_t damaged = 0;  // copies that the engine found wrong
    std::string wrong;     // an answer that was not right: what, and when. "": none
    std::string no_device; // why there was no cache to ask
};

struct Files {
    std::string wrapper, plugin; // absolute paths
    std::string folder;          // for the storage tier
};

// The faults that a campaign draws from: all that may happen to bytes on their way, and to what is said of it.
const std::vector<std::string> &faults();

// `fault`: empty to draw one. `steps`: operations.
Round run_round(const Files &files, uint64_t seed, const std::string &fault, unsigned steps);

} // namespace hbf::campaign
