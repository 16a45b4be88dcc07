// SPDX-License-Identifier: Apache-2.0
// The values in flight: one slot each, reused in turn, all memory taken at the start.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "command.hpp"
#include "hbf/sdk/failure.hpp"

namespace hbf::host {

// A value and what has become of it. Written by submit until it is published, then by the queue's driver; `state` decides
// between the driver and cancel.
struct Slot {
    enum State : uint64_t { empty, waiting, running, cancelled };

    uint64_t value = 0;
    Command *commands = nullptr;
    uint32_t count = 0;
    uint32_t pending = 0; // storage operations in flight
    std::optional<sdk::Failure> failure;

    bool is(State wanted) const noexcept { return state_.load(std::memory_order_acquire) == pack(value, wanted); }
    void set(State state) noexcept { state_.store(pack(value, state), std::memory_order_release); }
    // [any thread] From waiting; false if it is `of`'s no more, or past that.
    bool move_on(uint64_t of, State to) noexcept {
        uint64_t expected = pack(of, waiting);
        return state_.compare_exchange_strong(expected, pack(of, to), std::memory_order_acq_rel);
    }

    // The first failure stays.
    void fail(hbf_status status, std::string &&message, hbf_region region, uint64_t offset) {
        if (!failure) failure = sdk::Failure{status, std::move(message), region, offset};
    }

private:
    static constexpr uint64_t pack(uint64_t value, State state) { return value << 2 | state; }
    std::atomic<uint64_t> state_{empty};
};

class Slots {
public:
    Slots(uint32_t depth, uint32_t commands)
        : depth_(depth), slots_(std::make_unique<Slot[]>(depth)),
          commands_(std::make_unique_for_overwrite<Command[]>(uint64_t{depth} * commands)) {
        for (uint32_t i = 0; i < depth; ++i) slots_[i].commands = commands_.get() + uint64_t{i} * commands;
    }
    Slot &operator[](uint64_t value) noexcept { return slots_[value % depth_]; }
    uint32_t depth() const noexcept { return depth_; }

private:
    const uint32_t depth_;
    std::unique_ptr<Slot[]> slots_;
    std::unique_ptr<Command[]> commands_; // untouched pages cost nothing
};

} // namespace hbf::host
