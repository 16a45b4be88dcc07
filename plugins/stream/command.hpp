// SPDX-License-Identifier: Apache-2.0
// A command as a stream queue takes it: checked, its regions found and pinned.
#pragma once

#include <cstdint>

#include "hbf/abi/command.h"
#include "hbf/sdk/queue.hpp"
#include "plugins/stream/kernel_table.hpp"
#include "plugins/stream/region.hpp"

namespace hbf::stream {

class Lane;

struct Place {
    hbf_region handle = 0; // 0: none
    const Region *region = nullptr;
    uint64_t offset = 0;

    uint64_t address() const { return region->at + offset; }
};

struct Command {
    hbf_command_kind kind = 0;
    uint32_t pattern_size = 0;
    Place dst, src; // of flush and invalidate: dst
    uint64_t size = 0, pattern = 0;
    const hbf_launch *launch = nullptr; // the host's: valid during submit
    const KernelTable::Known *kernel = nullptr;
    Lane *lane = nullptr; // of a wait, retained; nullptr: a barrier
    uint64_t value = 0;
};

// Handles that a batch holds pinned, in the queue's own store. A region that a batch names a thousand times is pinned once
// or twice, not a thousand times.
struct Pins {
    hbf_region *handles;
    uint32_t count, capacity;

    void give_back(Regions &regions) noexcept {
        while (count > 0) regions.unpin(handles[--count]);
    }
};

// Checks every command of the batch and pins its regions, or throws with none pinned and no lane retained. `out` has room
// for all. Without `kernels` the device runs none.
void take_commands(const sdk::BatchView &batch, Regions &regions, const KernelTable *kernels, Pins &pins, Command *out);

} // namespace hbf::stream
