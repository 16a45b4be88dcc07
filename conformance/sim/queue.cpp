// SPDX-License-Identifier: Apache-2.0
#include "conformance/sim/queue.hpp"

#include <fmt/format.h>

#include "hbf/sdk/wait.hpp"

namespace hbf::sim {

uint64_t SimQueue::submit(const sdk::BatchView &batch) {
    if (lane_.full())
        sdk::fail(HBF_EXHAUSTED, fmt::format("all {} values of the queue are in flight: wait for one", lane_.depth()));
    take_commands(batch, regions_, lane_.room());
    return engine_.submit(lane_, static_cast<uint32_t>(batch.size()));
}

std::shared_ptr<Timeline> waited_timeline(const hbf_wait &wait) {
    const auto *const queue = static_cast<SimQueue *>(sdk::waited_queue(wait));
    return queue ? queue->timeline() : nullptr;
}

} // namespace hbf::sim
