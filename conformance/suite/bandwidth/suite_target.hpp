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

// What fails, or never completes, ends the case. In a software domain the flushes and invalidates that a host has to add are
// part of the transfer.
class SuiteTarget final : public measure::Target {
public:
    SuiteTarget(const Instance &device, uint32_t depth, uint32_t commands);

    Result<uint64_t> submit(std::span<const measure::Move> moves) override;
    uint64_t completed() override { return device_->poll(queue_).completed; }
    Result<> wait(uint64_t value) override;
    Result<> written_by_cpu(const measure::Buffer &buffer, uint64_t offset, uint64_t size) override;

    uint32_t depth() const { return depth_; }
    uint32_t commands() const { return commands_; } // moves in a batch

private:
    bool software(const Region &region) const;

    const Instance *device_;
    uint32_t depth_, commands_;
    Queue queue_;
    std::vector<hbf_command> batch_;
};

} // namespace hbf::conformance
