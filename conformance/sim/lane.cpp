// SPDX-License-Identifier: Apache-2.0
#include "conformance/sim/lane.hpp"

#include <utility>

#include <fmt/format.h>

#include "conformance/sim/dice.hpp"

namespace hbf::sim {

Lane::Lane(Regions &regions, uint32_t depth, uint32_t commands)
    : regions_(regions), commands_(size_t{depth} * commands), slots_(depth) {
    for (uint32_t i = 0; i < depth; ++i) slots_[i].commands = commands_.data() + size_t{i} * commands;
}

uint64_t Lane::push(uint32_t count) {
    Slot &slot = this->slot(++submitted_);
    slot.count = count;
    return submitted_;
}

bool Lane::settle() {
    bool moved = false;
    for (; first_ <= submitted_ && over(slot(first_)); moved = true) complete(slot(first_));
    return moved;
}

// Moves on to the next segment where this one is done. True: nothing of the value runs, and nothing of it will.
bool Lane::over(Slot &slot) {
    while (slot.running == 0) {
        if (stopped(slot)) return true;
        if (slot.next < slot.end) return false;
        if (slot.end == slot.count) return true;
        if (slot.commands[slot.end].kind == HBF_COMMAND_WAIT) {
            if (!pass_wait(slot, slot.commands[slot.end])) return false;
            slot.next = ++slot.end;
        }
        while (slot.end < slot.count && slot.commands[slot.end].kind != HBF_COMMAND_WAIT) ++slot.end;
    }
    return false;
}

bool Lane::pass_wait(Slot &slot, const Command &wait) const {
    if (!wait.timeline || wait.timeline == timeline_) return true; // earlier values of this queue are over
    if (wait.timeline->completed.load(std::memory_order_acquire) < wait.value) return false;
    const uint64_t failed = wait.timeline->failed.load(std::memory_order_acquire);
    if (failed != 0 && failed <= wait.value) {
        const sdk::Failure &why = *wait.timeline->failure;
        slot.failure = {why.status,
                        fmt::format("waited for value {} of another queue, which failed: {}", wait.value, why.message),
                        why.region, why.offset};
    }
    return true;
}

void Lane::complete(Slot &slot) {
    if (slot.failure && !poisoned_) {
        poisoned_ = true;
        timeline_->status.store(slot.failure->status, std::memory_order_relaxed);
        timeline_->failure = std::move(slot.failure);
        timeline_->failed.store(first_, std::memory_order_release);
    }
    give_back(slot.commands, slot.count, regions_);
    Command *const commands = slot.commands;
    slot = {};
    slot.commands = commands;
    timeline_->completed.store(first_++, std::memory_order_release);
}

uint32_t Lane::runnable() const {
    if (first_ > submitted_) return 0;
    const Slot &slot = this->slot(first_);
    return stopped(slot) ? 0 : slot.end - slot.next;
}

Lane::Work Lane::take(Dice &dice) {
    Slot &slot = this->slot(first_);
    std::swap(slot.commands[slot.next], slot.commands[slot.next + dice.below(slot.end - slot.next)]);
    slot.begun = true;
    ++slot.running;
    return {first_, &slot.commands[slot.next++]};
}

void Lane::done(const Work &work, std::optional<sdk::Failure> failure) {
    Slot &slot = this->slot(work.value);
    --slot.running;
    if (failure && !slot.failure) slot.failure = std::move(failure);
}

bool Lane::cancel(uint64_t value) {
    if (value < first_) return false;
    Slot &slot = this->slot(value);
    if (slot.begun) return false;
    return slot.cancelled = true;
}

} // namespace hbf::sim
