// SPDX-License-Identifier: Apache-2.0
#include "driver.hpp"

#include <algorithm>
#include <exception>

#include <fmt/format.h>

#include "copy_policy.hpp"
#include "validate.hpp"
#include "worker_pool.hpp"

namespace hbf::host {
namespace {

// Between looks at what other threads have submitted, while storage keeps this one waiting.
constexpr uint64_t look_every_ns = 100'000;

} // namespace

Driver::Driver(Slots &slots, uint32_t commands, RegionTable &regions, Timeline &timeline, StorageTier *storage, Held &held,
               Announcer &announcer)
    : slots_(slots), regions_(regions), timeline_(timeline), held_(held), announcer_(announcer),
      turns_(std::make_unique_for_overwrite<uint64_t[]>(commands)) {
    if (storage) storage_.emplace(*storage);
}

Driver::~Driver() {
    let_go();
}

Driver::Stop Driver::run(const std::atomic<uint64_t> &last, const Limits &limits) noexcept {
    budget_ = limits.memory_bytes;
    for (;;) {
        bool moved = false;
        Block block = Block::none;
        try {
            moved = storage_ && storage_->collect(0);
            block = issue(last, limits);
            if (storage_) storage_->kick();
        } catch (...) {
            note_failure(slots_[issuing_ <= seen_ ? issuing_ : seen_]);
            moved = true;
        }
        moved |= retire();
        const bool storage_busy = storage_ && storage_->in_flight() != 0;
        if (timeline_.completed() >= limits.target || (retired_ == seen_ && block == Block::none))
            return block == Block::beyond || block == Block::memory ? Stop::memory : Stop::done;
        if (block == Block::time) return Stop::time;
        if (block == Block::memory) return Stop::memory;
        if (moved) continue;
        if (!storage_busy) return block == Block::queue ? Stop::queue : Stop::memory;
        if (!limits.block) return Stop::io;
        if (limits.give_way && limits.give_way->others_waiting()) return Stop::time;
        uint64_t patience = look_every_ns;
        if (limits.deadline != Clock::time_point::max()) {
            const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(limits.deadline - Clock::now()).count();
            if (left <= 0) return Stop::time;
            patience = std::min(patience, static_cast<uint64_t>(left));
        }
        try {
            (void)storage_->collect(patience);
        } catch (...) {
            note_failure(slots_[retired_ + 1]);
        }
    }
}

Driver::Block Driver::issue(const std::atomic<uint64_t> &last, const Limits &limits) {
    for (;;) {
        seen_ = last.load(std::memory_order_seq_cst);
        if (issuing_ > seen_) return Block::none;
        Slot &slot = slots_[issuing_];
        if (const Block block = issue_slot(slot, limits); block != Block::none) return block;
        if (!claimed_) (void)slot.move_on(issuing_, Slot::running); // too late to cancel now
        ++issuing_, command_ = 0, begun_ = 0, claimed_ = false;
    }
}

Driver::Block Driver::issue_slot(Slot &slot, const Limits &limits) {
    while (command_ < slot.count) {
        if (memory_.is_open()) { // whatever else: helpers may be in it
            if (!memory_.drive(limits.deadline)) return Block::time;
            command_ = run_end_;
            continue;
        }
        poisoned_ |= slot.failure.has_value();
        if (poisoned_ || slot.is(Slot::cancelled)) break;
        const Command &command = slot.commands[command_];
        if (command.kind == HBF_COMMAND_WAIT) {
            if (const Block block = wait(slot, command); block != Block::none) return block;
            ++command_;
            continue;
        }
        if (!claimed_) {
            claimed_ = slot.move_on(issuing_, Slot::running);
            if (!claimed_) continue; // cancelled this moment
        }
        if (storage_ && storage_->conflicts(slot, command)) return Block::io;
        if (command.touches_storage()) {
            if (!storage_->begin(slot, command, begun_)) return Block::io;
            begun_ = 0;
            ++command_;
        } else if (const Block block = run_memory(slot, limits); block != Block::none) {
            return block;
        }
    }
    if (holder_) let_go(); // poisoned or cancelled while it was held back
    return Block::none;
}

Driver::Block Driver::wait(Slot &slot, const Command &command) {
    if (!command.timeline) return slot.pending == 0 ? Block::none : Block::io;
    if (command.timeline == &timeline_) {
        (void)retire();
        return timeline_.completed() >= command.value ? Block::none : Block::io;
    }
    Timeline &other = *command.timeline;
    if (other.completed() < command.value) {
        if (holder_ == &other) return Block::queue;
        held_back_.store(true, std::memory_order_seq_cst);
        if (other.hold(held_, command.value)) {
            holder_ = &other;
            other.retain();
            return Block::queue;
        }
        held_back_.store(false, std::memory_order_seq_cst);
    }
    let_go();
    if (other.failed(command.value)) {
        const auto failure = other.failure();
        slot.fail(failure ? failure->status : HBF_INTERNAL,
                  fmt::format("waited for value {} of another queue, which failed: {}", command.value,
                              failure ? failure->message : "no reason known"),
                  failure ? failure->region : 0, failure ? failure->offset : HBF_NO_PLACE);
    }
    return Block::none;
}

// The commands from here to the next one that is not memory's, or must wait.
Driver::Block Driver::run_memory(Slot &slot, const Limits &limits) {
    if (issuing_ > limits.target) return Block::beyond;
    const Command *const first = slot.commands + command_;
    uint64_t bytes = first->moves_data() ? first->size : 0;
    uint32_t end = command_ + 1;
    for (; end < slot.count; ++end) {
        const Command &command = slot.commands[end];
        if (command.kind == HBF_COMMAND_WAIT || command.touches_storage()) break;
        if (storage_ && storage_->conflicts(slot, command)) break;
        if (command.moves_data()) bytes += command.size;
    }
    if (bytes > budget_) return Block::memory;
    budget_ -= budget_ == UINT64_MAX ? 0 : bytes;
    if (bytes <= turn_size) { // nothing to share
        for (; command_ < end; ++command_) run_memory_command(slot.commands[command_], 0, slot.commands[command_].size);
        return Block::none;
    }
    memory_.open(first, end - command_, turns_.get());
    run_end_ = end;
    announcer_.announce(memory_.turns());
    return Block::none; // the caller drives it
}

bool Driver::retire() noexcept {
    bool moved = false;
    while (retired_ + 1 < issuing_) {
        Slot &slot = slots_[retired_ + 1];
        if (slot.pending != 0) break;
        if (slot.failure) {
            timeline_.fail(slot.value, std::move(*slot.failure));
            slot.failure.reset();
            poisoned_ = true;
        }
        give_back(slot.commands, slot.count, regions_);
        slot.set(Slot::empty);
        timeline_.complete(++retired_);
        moved = true;
    }
    return moved;
}

void Driver::let_go() noexcept {
    if (!holder_) return;
    holder_->let_go(held_);
    holder_->release();
    holder_ = nullptr;
    held_back_.store(false, std::memory_order_seq_cst);
}

void Driver::note_failure(Slot &slot) noexcept {
    if (slot.failure) return;
    sdk::Failure failure;
    try {
        try {
            throw;
        } catch (sdk::Failure &thrown) {
            failure = std::move(thrown);
        } catch (const std::bad_alloc &) {
            failure.status = HBF_EXHAUSTED;
            failure.message = "out of memory";
        } catch (const std::exception &thrown) {
            failure.message = thrown.what();
        }
    } catch (...) { // no memory for words
    }
    slot.failure = std::move(failure);
}

} // namespace hbf::host
