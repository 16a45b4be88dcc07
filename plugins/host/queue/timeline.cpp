// SPDX-License-Identifier: Apache-2.0
#include "timeline.hpp"

#include <utility>

namespace hbf::host {

sdk::Progress Timeline::progress() const noexcept {
    sdk::Progress result;
    result.completed = completed_.load(std::memory_order_acquire);
    result.failed = failed_.load(std::memory_order_acquire);
    if (result.failed > result.completed) result.failed = 0; // recorded, its value is about to complete
    if (result.failed != 0) result.status = status_.load(std::memory_order_relaxed);
    return result;
}

std::optional<sdk::Failure> Timeline::failure() const {
    std::lock_guard lock(mutex_);
    if (failed_.load(std::memory_order_relaxed) > completed_.load(std::memory_order_acquire)) return std::nullopt;
    return failure_;
}

void Timeline::fail(uint64_t value, sdk::Failure &&failure) noexcept {
    std::lock_guard lock(mutex_);
    if (failure_) return;
    status_.store(failure.status, std::memory_order_relaxed);
    failure_ = std::move(failure);
    failed_.store(value, std::memory_order_release);
}

void Timeline::complete(uint64_t value) noexcept {
    // Sequentially consistent against sleep() and hold(): either they see the value, or this sees them.
    completed_.store(value, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) != 0) wake();
    if (holds_.load(std::memory_order_seq_cst) == 0) return;
    std::lock_guard lock(mutex_);
    for (Held **link = &held_; *link;) {
        Held *const held = *link;
        if (held->value_ > value) {
            link = &held->next_;
            continue;
        }
        *link = held->next_;
        holds_.fetch_sub(1, std::memory_order_relaxed);
        held->resume();
    }
}

void Timeline::wake() noexcept {
    {
        std::lock_guard lock(mutex_);
    } // a sleeper that has looked is now asleep
    wake_.notify_all();
}

bool Timeline::hold(Held &held, uint64_t value) noexcept {
    std::lock_guard lock(mutex_);
    holds_.fetch_add(1, std::memory_order_seq_cst);
    if (completed() >= value) {
        holds_.fetch_sub(1, std::memory_order_relaxed);
        return false;
    }
    held.value_ = value;
    held.next_ = std::exchange(held_, &held);
    if (owner_) owner_->hasten();
    return true;
}

void Timeline::let_go(Held &held) noexcept {
    std::lock_guard lock(mutex_);
    for (Held **link = &held_; *link; link = &(*link)->next_)
        if (*link == &held) {
            *link = held.next_;
            holds_.fetch_sub(1, std::memory_order_relaxed);
            return;
        }
}

} // namespace hbf::host
