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

// Commands lie in one ring, behind each other, and from its start again whenever nothing is in flight: a queue that is
// used shallowly stays in the same few cache lines.
class Slots {
public:
    Slots(uint32_t depth, uint32_t most_commands)
        : depth_(depth), capacity_((uint64_t{depth} + 1) * most_commands), slots_(std::make_unique<Slot[]>(depth)),
          commands_(std::make_unique_for_overwrite<Command[]>(capacity_)) {}
    Slot &operator[](uint64_t value) noexcept { return slots_[value % depth_]; }
    uint32_t depth() const noexcept { return depth_; }

    // [submit] Room for `count` commands in a row, at most most_commands; `oldest` is the lowest value in flight, 0 none.
    // There always is some: fewer than `depth` values are in flight, and capacity is one batch more than they can fill.
    Command *room(uint64_t count, uint64_t oldest) noexcept {
        const uint64_t tail = oldest ? static_cast<uint64_t>((*this)[oldest].commands - commands_.get()) : 0;
        if (!oldest || (head_ >= tail && head_ + count > capacity_)) head_ = 0;
        return commands_.get() + head_;
    }
    void taken(uint64_t count) noexcept { head_ += count; }

private:
    const uint32_t depth_;
    const uint64_t capacity_;
    std::unique_ptr<Slot[]> slots_;
    std::unique_ptr<Command[]> commands_; // untouched pages cost nothing
    uint64_t head_ = 0;
};

} // namespace hbf::host
