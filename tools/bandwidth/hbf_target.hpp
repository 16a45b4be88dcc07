// SPDX-License-Identifier: Apache-2.0
// A device's queue as the measurement sees it, with a gate made of work: what is submitted waits for a fill on a second
// queue.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "conformance/measure/target.hpp"
#include "hbf/device.hpp"

namespace hbf::tools::bandwidth {

class HbfTarget : public measure::Target {
public:
    // `own`: one of `devices`, whose queue it is. `gate_apart`: a batch has no room for the gate's wait beside its copies,
    // so that it is a batch of its own.
    HbfTarget(std::vector<Device> &devices, Device &own, Queue queue, bool gate_apart, std::function<bool()> stop);
    ~HbfTarget() override;

    // A gate needs a second queue and a region of `device` to fill. Without it (refused, or the device works inline) samples
    // are timed from their first submit.
    void make_gate(Device &device, uint32_t tier);

    Result<uint64_t> submit(std::span<const measure::Move> moves) override;
    uint64_t completed() override { return queue_.completed(); }
    Result<> wait(uint64_t value) override;
    Result<> written_by_cpu(const measure::Buffer &buffer, uint64_t offset, uint64_t size) override;
    Result<measure::ReadFindings> take_findings() override;
    void close_gate() override;
    std::optional<measure::Clock::time_point> open_gate() override;

private:
    Result<> wait_on(Queue &queue, uint64_t value);
    Result<> launch(const measure::Move &move);
    Result<Kernel> kernel_for(measure::Work work);
    Result<> make_results();

    std::vector<Device> &devices_;
    Device &own_;
    Queue queue_;
    std::map<measure::Work, Kernel> kernels_; // found at first use
    RegionInfo results_;                      // of kernels that read, a slot a launch
    uint32_t reads_ = 0;                      // slots in use
    std::function<bool()> stop_;
    Batch batch_;

    Device *gate_device_ = nullptr;
    Queue gate_queue_;
    Batch gate_work_;
    Region gate_region_;
    std::optional<Point> closed_;
    bool gate_apart_, held_ = false; // held_: the wait of this gate was submitted apart
    int useless_ = 0;                // times in a row that the gate did not hold
};

} // namespace hbf::tools::bandwidth
