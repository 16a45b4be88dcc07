// SPDX-License-Identifier: Apache-2.0
// From the host's commands to the queue's: everything that can be checked at submit is checked here.
#pragma once

#include "command.hpp"
#include "hbf/sdk/queue.hpp"

namespace hbf::host {

// Where waits look a queue of the same instance up.
class QueueFinder {
public:
    virtual Timeline *find(hbf_queue *queue, uint64_t value) = 0; // retained; nullptr: submit has not returned that value

protected:
    ~QueueFinder() = default;
};

// Fills out[0, batch.size()) with regions pinned, or throws Failure naming the command, with nothing pinned.
void take_commands(const sdk::BatchView &batch, RegionTable &regions, QueueFinder &queues, bool storage, Command *out);

// Unpins what take_commands pinned.
void give_back(const Command *commands, uint64_t count, RegionTable &regions) noexcept;

} // namespace hbf::host
