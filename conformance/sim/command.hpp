// SPDX-License-Identifier: Apache-2.0
// A command as the device keeps it: checked, its regions found and pinned.
#pragma once

#include <cstdint>
#include <memory>

#include "conformance/sim/launch.hpp"
#include "conformance/sim/region.hpp"
#include "conformance/sim/timeline.hpp"
#include "hbf/abi/command.h"
#include "hbf/sdk/queue.hpp"

namespace hbf::sim {

struct Command {
    hbf_command_kind kind = 0;
    Place dst = {}, src = {}; // of flush and invalidate: dst
    uint64_t size = 0, pattern = 0;
    uint32_t pattern_size = 0;
    uint32_t *crc = nullptr;                      // nullptr: none wanted
    std::shared_ptr<Timeline> timeline = nullptr; // of a wait; nullptr: a barrier
    uint64_t value = 0;
    std::unique_ptr<Launch> launch = nullptr; // of a launch; once made it stays with its place in the ring

    void clear() { *this = Command{.launch = std::move(launch)}; }
};

// each(place, size, whether it is written), for all that it touches.
template <class Each>
void each_place(const Command &command, Each &&each) {
    each(command.dst, command.size, true);
    each(command.src, command.size, false);
    if (command.kind != HBF_COMMAND_LAUNCH || !command.launch) return;
    for (uint32_t i = 0; i < command.launch->count; ++i) {
        const Launch::Buffer &buffer = command.launch->buffers[i];
        each(buffer.place, buffer.size, buffer.written);
    }
}

// Finds what a wait names: nullptr where submit has not returned that value.
std::shared_ptr<Timeline> waited_timeline(const hbf_wait &wait);

// Checks every command of the batch and pins its regions, or throws with none pinned. `out` has room for all.
void take_commands(const sdk::BatchView &batch, Regions &regions, Command *out);
void give_back(Command *commands, uint64_t count, Regions &regions) noexcept;

// Whether it matters which of the two runs first.
bool conflict(const Command &a, const Command &b);

} // namespace hbf::sim
