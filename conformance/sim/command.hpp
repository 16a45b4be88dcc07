// SPDX-License-Identifier: Apache-2.0
// A command as the device keeps it: checked, its regions found and pinned.
#pragma once

#include <cstdint>
#include <memory>

#include "conformance/sim/region.hpp"
#include "conformance/sim/timeline.hpp"
#include "hbf/abi/command.h"
#include "hbf/sdk/queue.hpp"

namespace hbf::sim {

struct Place {
    hbf_region handle = 0; // 0: none, nothing is pinned
    Region *region = nullptr;
    uint64_t offset = 0;
};

struct Command {
    hbf_command_kind kind = 0;
    Place dst, src; // of flush and invalidate: dst
    uint64_t size = 0, pattern = 0;
    uint32_t pattern_size = 0;
    uint32_t *crc = nullptr;                      // nullptr: none wanted
    std::shared_ptr<Timeline> timeline = nullptr; // of a wait; nullptr: a barrier
    uint64_t value = 0;
};

// Finds what a wait names: nullptr where submit has not returned that value.
std::shared_ptr<Timeline> waited_timeline(const hbf_wait &wait);

// Checks every command of the batch and pins its regions, or throws with none pinned. `out` has room for all.
void take_commands(const sdk::BatchView &batch, Regions &regions, Command *out);
void give_back(Command *commands, uint64_t count, Regions &regions) noexcept;

// Whether it matters which of the two runs first.
bool conflict(const Command &a, const Command &b);

} // namespace hbf::sim
