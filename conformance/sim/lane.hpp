// SPDX-License-Identifier: Apache-2.0
// A queue as the engines see it: its values in flight, and which commands may run now. All under the engine's lock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "conformance/sim/command.hpp"
#include "conformance/sim/dice.hpp"

namespace hbf::sim {

class Lane {
public:
    Lane(Regions &regions, uint32_t depth, uint32_t commands);
    Lane(const Lane &) = delete;
    Lane &operator=(const Lane &) = delete;

    const std::shared_ptr<Timeline> &timeline() const { return timeline_; }
    uint32_t depth() const { return static_cast<uint32_t>(slots_.size()); }

    // [submit, no lock] Where the next value's commands go. Nothing else looks at it before push().
    Command *room() { return slot(submitted_ + 1).commands; }
    bool full() const { return submitted_ - timeline_->completed.load(std::memory_order_acquire) >= slots_.size(); }
    uint64_t push(uint32_t count);

    // Completes every value that is over. True if there was one.
    bool settle();
    uint32_t runnable() const; // commands that may begin now
    struct Work {
        uint64_t value = 0;
        const Command *command = nullptr;
    };
    Work take(Dice &dice); // begins one of them, any

    // The value after the oldest may run ahead of its turn where nobody can tell: its commands and the oldest's, few on both
    // sides, do not conflict, no agent looks at their memory directly, and (the engine sees to it) no other queue comes
    // near.
    uint32_t runnable_ahead() const;
    Work take_ahead(Dice &dice);
    bool is_ahead() const { return ahead_ != 0; }
    bool oldest_clashes(const Lane &ahead) const; // with what runs ahead there
    bool would_clash(const Lane &running) const;  // what may run ahead here, with what runs there
    void done(const Work &work, std::optional<sdk::Failure> failure);

    bool cancel(uint64_t value);
    bool idle() const { return timeline_->completed.load(std::memory_order_acquire) == submitted_; }

private:
    // The commands of a value, split by its waits into segments of commands that are unordered among themselves.
    struct Slot {
        Command *commands = nullptr;
        uint32_t count = 0;
        uint32_t next = 0, end = 0; // of the segment: first command that has not begun, and its end
        uint32_t running = 0;
        bool begun = false, cancelled = false;
        std::optional<sdk::Failure> failure = std::nullopt;
    };
    Slot &slot(uint64_t value) { return slots_[value % slots_.size()]; }
    const Slot &slot(uint64_t value) const { return slots_[value % slots_.size()]; }
    bool stopped(const Slot &slot) const { return poisoned_ || slot.cancelled || slot.failure; }
    static bool clash(const Slot &a, const Slot &b);
    static bool unseen(const Slot &slot);
    static Work begin(uint64_t value, Slot &slot, Dice &dice);
    bool over(Slot &slot);
    bool pass_wait(Slot &slot, const Command &wait) const;
    void complete(Slot &slot);

    Regions &regions_;
    std::vector<Command> commands_;
    std::vector<Slot> slots_;
    std::shared_ptr<Timeline> timeline_ = std::make_shared<Timeline>();
    uint64_t submitted_ = 0, first_ = 1; // first_: oldest value in flight
    uint64_t ahead_ = 0;                 // value that began before its turn, while the one before it is not over
    bool poisoned_ = false;
};

} // namespace hbf::sim
