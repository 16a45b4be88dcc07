// SPDX-License-Identifier: Apache-2.0
// What became of a value, and taking one back.
#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "core/fabric/progress_thread.hpp"
#include "core/fabric/queue_core.hpp"

namespace hbf::fabric {

Outcome QueueCore::outcome(uint64_t value) const noexcept {
    if (value == 0 || value > submitted_.load(std::memory_order_acquire))
        return {Outcome::State::never_submitted, Code::invalid};
    if (value > completed_.load(std::memory_order_acquire)) return {Outcome::State::pending, Code::ok};
    const Record &record = history_[value & history_mask_];
    if (record.value.load(std::memory_order_acquire) == value) {
        const auto code = static_cast<Code>(record.code.load(std::memory_order_acquire));
        if (record.value.load(std::memory_order_relaxed) == value) return {Outcome::State::done, code};
    }
    // Too long ago for the details; what went wrong is kept for ever.
    if (any_cancelled_.load(std::memory_order_acquire)) {
        std::lock_guard lock(failure_mutex_);
        const bool closed = table_entry_->closed.load(std::memory_order_relaxed); // then the list has gone there
        const std::vector<uint64_t> &cancelled = closed ? table_entry_->cancelled : cancelled_;
        if (std::binary_search(cancelled.begin(), cancelled.end(), value)) return {Outcome::State::done, Code::cancelled};
    }
    const uint64_t failed = failed_.load(std::memory_order_acquire);
    return {Outcome::State::done, failed != 0 && value >= failed ? failed_code_.load(std::memory_order_relaxed) : Code::ok};
}

uint64_t QueueCore::device_value_of(uint64_t value) const noexcept {
    const Entry &entry = entry_of(value);
    if (entry.value.load(std::memory_order_acquire) != value) return 0;
    const uint64_t device_value = entry.device_value.load(std::memory_order_acquire);
    return entry.value.load(std::memory_order_acquire) == value ? device_value : 0;
}

Result<> QueueCore::poisoned() const {
    if (failed_.load(std::memory_order_acquire) == 0) return {};
    std::lock_guard lock(failure_mutex_);
    return tl::unexpected(failure_);
}

Result<Completion> QueueCore::status(uint64_t value) {
    pump();
    const Outcome outcome_now = outcome(value);
    switch (outcome_now.state) {
    case Outcome::State::never_submitted:
        return fail(Code::invalid, fmt::format("{}: value {} has not been returned by submit", title(), value));
    case Outcome::State::pending:
        return fail(Code::busy, fmt::format("{}: value {} is not completed", title(), value));
    case Outcome::State::done:
        break;
    }
    Completion completion{value, outcome_now.code, VerifiedBy::nobody, 0};
    const Record &record = history_[value & history_mask_];
    const auto verified = static_cast<VerifiedBy>(record.verified.load(std::memory_order_acquire));
    const uint64_t checked = record.checked.load(std::memory_order_acquire);
    if (record.value.load(std::memory_order_relaxed) == value) {
        completion.verified_by = verified;
        completion.checked_bytes = checked;
    }
    return completion;
}

// As wait returns it: a failed value is an error.
Result<Completion> QueueCore::result_of(uint64_t value) {
    auto completion = status(value);
    if (!completion || completion->code == Code::ok) return completion;
    if (completion->code == Code::cancelled && failed_.load(std::memory_order_acquire) != value)
        return fail(Code::cancelled, fmt::format("{}: value {} was cancelled", title(), value));
    auto first = poisoned();
    if (first) return fail(completion->code, fmt::format("{}: value {} failed", title(), value));
    Error error = std::move(first.error());
    const uint64_t failed = failed_.load(std::memory_order_acquire);
    if (value != failed)
        error.message =
            fmt::format("{}: value {} follows value {}, which failed: {}", title(), value, failed, error.message);
    return tl::unexpected(std::move(error));
}

Result<> QueueCore::cancel(uint64_t value) {
    if (value == 0 || value > submitted_.load(std::memory_order_acquire))
        return fail(Code::invalid, fmt::format("{}: value {} has not been returned by submit", title(), value));
    {
        std::lock_guard lock(failure_mutex_);
        // Before anything is decided, for all that could be asked for; in steps that grow, for many that come one by one.
        const size_t needed = cancelled_.size() + depth_;
        if (cancelled_.capacity() < needed) cancelled_.reserve(2 * needed);
    }
    uint64_t device_value = 0;
    {
        // As the pump, so that nothing retires while this is decided. Never long: nobody blocks in there.
        while (pumping_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
        Entry &entry = entry_of(value);
        const bool open = completed_.load(std::memory_order_relaxed) < value, again = open && entry.cancelled;
        if (open) entry.cancelled = true;
        device_value = device_value_of(value);
        pumping_.store(false, std::memory_order_release);
        if (!open) return fail(Code::invalid, fmt::format("{}: value {} has completed already", title(), value));
        if (again) return {};
    }
    // If it runs, it runs: what comes of it is discarded when it retires.
    if (device_value != 0 && device_->queue_ext->cancel != nullptr) {
        AbiError error;
        (void)device_->queue_ext->cancel(queue_, device_value, error.out());
    }
    pump();
    if (watched.load(std::memory_order_acquire)) ProgressThread::wake();
    return {};
}

} // namespace hbf::fabric
