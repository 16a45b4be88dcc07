// SPDX-License-Identifier: Apache-2.0
// A queue of an OpenCL device: an in-order command queue, and the lane that tells how far it has come.
#pragma once

#include <memory>

#include "hbf/sdk/instance.hpp"
#include "plugins/opencl/queue/issue.hpp"
#include "plugins/opencl/queue/lane.hpp"

namespace hbf::opencl {

hbf_queue_info queue_facts(const DeviceFacts &device, bool kernels);

class OpenClQueue final : public sdk::Queue {
public:
    // `kernels` may be nullptr. All of them outlive the queue.
    OpenClQueue(const sdk::QueueRequest &request, const Context &context, Regions &regions, DeviceKernels *kernels);
    ~OpenClQueue() override;

    uint64_t submit(const sdk::BatchView &batch) override;
    sdk::Progress poll() noexcept override;
    bool wait(uint64_t value, uint64_t timeout_ns) override;
    bool cancel(uint64_t) override { return false; } // the driver has it as soon as submit returns
    std::optional<sdk::Failure> failure() const override { return lane_->failure(); }
    bool idle() noexcept override;

    Lane &lane() { return *lane_; }

private:
    void hand_over(uint64_t count, Lane::Slot &slot);
    cl_int begin(const Command &command, Scrap &scrap, cl_event *event) noexcept;

    struct Release {
        void operator()(Lane *lane) const noexcept { lane->release(); }
    };

    const Functions &cl_;
    Regions &regions_;
    const uint32_t commands_;
    std::optional<Launcher> launcher_;
    std::unique_ptr<Lane, Release> lane_;
    std::unique_ptr<Command[]> taken_; // of the batch that is submitted
    std::unique_ptr<Scrap[]> scraps_;  // of all slots
    Issuer issuer_;                    // ends first: after it nothing of the device's looks at the rest
};

} // namespace hbf::opencl
