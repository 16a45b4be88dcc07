// SPDX-License-Identifier: Apache-2.0
// A queue of the simulated device.
#pragma once

#include "conformance/sim/engine.hpp"

namespace hbf::sim {

class SimQueue final : public sdk::Queue {
public:
    SimQueue(Engine &engine, Regions &regions, uint32_t depth, uint32_t commands)
        : engine_(engine), regions_(regions), lane_(regions, depth, commands) {
        engine_.add(lane_);
    }
    ~SimQueue() override { engine_.remove(lane_); }

    uint64_t submit(const sdk::BatchView &batch) override;
    sdk::Progress poll() noexcept override {
        engine_.look(lane_);
        return lane_.timeline()->progress();
    }
    bool wait(uint64_t value, uint64_t timeout_ns) override { return engine_.wait(lane_, value, timeout_ns); }
    bool cancel(uint64_t value) override { return engine_.cancel(lane_, value); }
    std::optional<sdk::Failure> failure() const override { return engine_.failure(lane_); }
    bool idle() noexcept override { return lane_.idle(); }

    const std::shared_ptr<Timeline> &timeline() const { return lane_.timeline(); }

private:
    Engine &engine_;
    Regions &regions_;
    Lane lane_;
};

} // namespace hbf::sim
