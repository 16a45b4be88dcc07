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
    ahead_ = 0;
}

uint32_t Lane::runnable() const {
    if (first_ > submitted_) return 0;
    const Slot &slot = this->slot(first_);
    return stopped(slot) ? 0 : slot.end - slot.next;
}

Lane::Work Lane::begin(uint64_t value, Slot &slot, Dice &dice) {
    std::swap(slot.commands[slot.next], slot.commands[slot.next + dice.below(slot.end - slot.next)]);
    slot.begun = true;
    ++slot.running;
    return {value, &slot.commands[slot.next++]};
}

Lane::Work Lane::take(Dice &dice) {
    return begin(first_, slot(first_), dice);
}

bool Lane::clash(const Slot &a, const Slot &b) {
    for (uint32_t i = 0; i < a.count; ++i)
        for (uint32_t j = 0; j < b.count; ++j)
            if (conflict(a.commands[i], b.commands[j])) return true;
    return false;
}

bool Lane::unseen(const Slot &slot) {
    for (uint32_t i = 0; i < slot.count; ++i) {
        const Command &command = slot.commands[i];
        if (command.kind != HBF_COMMAND_COPY && command.kind != HBF_COMMAND_FILL && command.kind != HBF_COMMAND_LAUNCH)
            return false;
        bool live = false;
        each_place(command, [&](const Place &place, uint64_t, bool) { live |= place.region && place.region->live; });
        if (live) return false;
    }
    return slot.count != 0;
}

uint32_t Lane::runnable_ahead() const {
    constexpr uint32_t few = 4; // commands: every pair of them is compared
    if (first_ >= submitted_) return 0;
    const Slot &oldest = slot(first_), &next = slot(first_ + 1);
    if (stopped(oldest) || stopped(next)) return 0;
    if (ahead_ != 0) return next.end - next.next;
    const bool last_segment = oldest.begun && oldest.end == oldest.count;
    return last_segment && oldest.count <= few && next.count <= few && unseen(next) && !clash(oldest, next) ? next.count : 0;
}

Lane::Work Lane::take_ahead(Dice &dice) {
    Slot &next = slot(first_ + 1);
    next.end = next.count; // it has no waits
    ahead_ = first_ + 1;
    return begin(ahead_, next, dice);
}

bool Lane::oldest_clashes(const Lane &ahead) const {
    return first_ <= submitted_ && clash(slot(first_), ahead.slot(ahead.ahead_));
}

bool Lane::would_clash(const Lane &running) const {
    return running.first_ <= running.submitted_ && running.slot(running.first_).running != 0 &&
           clash(slot(first_ + 1), running.slot(running.first_));
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
