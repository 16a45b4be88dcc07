// SPDX-License-Identifier: Apache-2.0
// The plugin under test as what conformance/measure times: one queue of an instance.
#pragma once

#include <vector>

#include "conformance/measure/target.hpp"
#include "conformance/suite/bytes.hpp"

namespace hbf::conformance {

// A plugin's region in the words of measure, and back: tier + 1, and the two halves of the handle.
measure::Buffer buffer_of(const hbf_region_info &region);
hbf_region region_of(const Region &region);
uint32_t tier_of(const Region &region);

// What fails, or never completes, ends the case. A software domain's flush of what the CPU wrote is done here; its
// invalidate before the CPU reads is the reader's.
class SuiteTarget final : public measure::Target {
public:
    SuiteTarget(const Instance &device, uint32_t depth, uint32_t commands);

    Result<uint64_t> submit(std::span<const measure::Move> moves) override;
    uint64_t completed() override { return device_->poll(queue_).completed; }
    Result<> wait(uint64_t value) override;
    Result<> written_by_cpu(const measure::Buffer &buffer, uint64_t offset, uint64_t size) override;

    // What arrives in this one, one move at a time, is read by the CPU next: invalidated where that is needed.
    void read_by_cpu(const measure::Buffer &buffer) { read_by_cpu_ = buffer.region; }

    uint32_t depth() const { return depth_; }
    uint32_t commands() const { return commands_; } // moves in a batch

private:
    bool software(const Region &region) const;

    const Instance *device_;
    uint32_t depth_, commands_;
    Queue queue_;
    std::vector<hbf_command> batch_;
    Region read_by_cpu_{};
};

} // namespace hbf::conformance
