// SPDX-License-Identifier: Apache-2.0
// The host's queue: small copies run inline at submit or in the waiting thread, large ones on pinned workers, storage
// commands through the queue's storage channel. Values complete in order.
#pragma once

#include <memory>

#include "hbf/sdk/instance.hpp"
#include "hbf/sdk/queue.hpp"
#include "region.hpp"

namespace hbf::host {

class StorageTier;
class WorkerPool; // queue/worker_pool.hpp: shared by the queues of one instance

hbf_queue_info host_queue_info();
std::shared_ptr<WorkerPool> make_worker_pool(unsigned workers);

// `storage` may be nullptr. `regions` and `storage` outlive the queue.
std::unique_ptr<sdk::Queue> make_host_queue(const sdk::QueueRequest &request, RegionTable &regions, StorageTier *storage,
                                            std::shared_ptr<WorkerPool> workers);

} // namespace hbf::host
