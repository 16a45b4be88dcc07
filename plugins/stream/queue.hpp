// SPDX-License-Identifier: Apache-2.0
// A queue over one in-order stream (stream_api.hpp) and the lane that tells how far it has come. A batch is checked whole,
// its copies between barriers and waits go down in one call, and one event is recorded behind it.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "hbf/sdk/instance.hpp"
#include "plugins/stream/command.hpp"
#include "plugins/stream/kernel_table.hpp"
#include "plugins/stream/lane.hpp"
#include "plugins/stream/stream_api.hpp"

namespace hbf::stream {

struct QueueLimits {
    uint32_t max_depth = 256, max_commands = 1024, max_queues = 64;
    uint32_t usual_depth = 64;
    uint32_t visibility = HBF_VISIBLE_DEVICE | HBF_VISIBLE_HOST;
};

hbf_queue_info queue_facts(const QueueLimits &limits, bool kernels);

class StreamQueue final : public sdk::Queue {
public:
    // `make_stream` is called once the queue has all memory of its own: a runtime need not give a stream back on the spot,
    // so one is not asked for in vain. `regions` and `kernels`, which may be nullptr, outlive the queue.
    using MakeStream = std::function<std::unique_ptr<StreamApi>()>;
    StreamQueue(const sdk::QueueRequest &request, const QueueLimits &limits, const MakeStream &make_stream, Regions &regions,
                const KernelTable *kernels);
    ~StreamQueue() override;

    uint64_t submit(const sdk::BatchView &batch) override;
    sdk::Progress poll() noexcept override;
    bool wait(uint64_t value, uint64_t timeout_ns) override;
    bool cancel(uint64_t) override { return false; } // the runtime has it as soon as submit returns
    std::optional<sdk::Failure> failure() const override { return lane_->failure(); }
    bool idle() noexcept override;

    Lane &lane() { return *lane_; }

private:
    void hand_over(uint64_t count, Lane::Slot &slot);
    int begin(uint64_t count, uint64_t &at, bool &begun) noexcept;
    int one(const Command &command) noexcept;
    int launch(const Command &command) noexcept;

    struct Release {
        void operator()(Lane *lane) const noexcept { lane->release(); }
    };

    const uint32_t commands_;
    const KernelTable *const kernels_;
    Regions &regions_;
    std::unique_ptr<Command[]> taken_; // of the batch that is submitted
    std::unique_ptr<Copy[]> copies_;   // of one run of them
    std::unique_ptr<StreamApi> api_;
    std::unique_ptr<Lane, Release> lane_; // only end() gives its events back
};

} // namespace hbf::stream
