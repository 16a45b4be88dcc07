// SPDX-License-Identifier: Apache-2.0
// The pump: whoever polls or waits comes through here. Retires in order what is done, and hands over what was held back.
#include <utility>

#include <fmt/format.h>

#include "core/fabric/integrity.hpp"
#include "core/fabric/program.hpp"
#include "core/fabric/progress_thread.hpp"
#include "core/fabric/queue_core.hpp"

namespace hbf::fabric {

// The first failure of the queue. The message may not come about for lack of memory; the code does.
template <class Compose>
void QueueCore::fail_with(uint64_t value, Code code, Compose &&compose) noexcept {
    {
        std::lock_guard lock(failure_mutex_);
        try {
            failure_ = compose();
        } catch (...) {
            failure_ = Error{code, "out of memory", no_place, {}};
        }
        failure_.code = code;
    }
    failed_code_.store(code, std::memory_order_relaxed);
    failed_.store(value, std::memory_order_release);
}

uint64_t QueueCore::poll() noexcept {
    pump();
    return completed_.load(std::memory_order_acquire);
}

bool QueueCore::pump() noexcept {
    if (completed_.load(std::memory_order_relaxed) == submitted_.load(std::memory_order_acquire)) return false;
    if (pumping_.exchange(true, std::memory_order_acquire)) return false; // somebody is at it
    bool moved = retire();
    if (handed_.load(std::memory_order_relaxed) < submitted_.load(std::memory_order_acquire)) {
        moved |= hand_over_held();
        moved |= retire(); // short work is often done already
    }
    pumping_.store(false, std::memory_order_release);
    return moved;
}

// What the plugin's queue says now. False: nothing it could say would matter.
bool QueueCore::look_at_device() noexcept {
    const uint64_t submitted = device_submitted_.load(std::memory_order_acquire);
    if (device_completed_ >= submitted) return false;
    hbf_progress progress{sizeof(progress), HBF_OK, 0, 0};
    const hbf_status status = device_->queue_ext->poll(queue_, &progress);
    if (status != HBF_OK) { // it cannot even say: nothing more will come of what it has
        if (device_failed_ == 0) {
            device_failed_ = device_completed_ + 1;
            device_code_ = to_code(status);
        }
        device_completed_ = submitted;
        return true;
    }
    if (progress.failed != 0 && device_failed_ == 0) {
        device_failed_ = progress.failed;
        device_code_ = progress.status == HBF_OK ? Code::internal : to_code(progress.status);
    }
    if (progress.completed > device_announced_.load(std::memory_order_acquire) ||
        device_miscounts_.load(std::memory_order_acquire)) {
        // Completions that match no submission prove nothing about our work.
        if (device_failed_ == 0) device_failed_ = device_completed_ + 1;
        device_code_ = Code::internal;
        device_completed_ = submitted;
        device_miscounts_.store(true, std::memory_order_relaxed);
    } else if (progress.completed > device_completed_) {
        device_completed_ = progress.completed;
    }
    return true;
}

bool QueueCore::retire() noexcept {
    look_at_device();
    bool moved = false;
    for (;;) {
        const uint64_t value = completed_.load(std::memory_order_relaxed) + 1;
        if (value > submitted_.load(std::memory_order_acquire)) return moved;
        Entry &entry = entry_of(value);
        const bool cancelled = entry.cancelled;
        switch (entry.stage) {
        case Stage::held:
            if (failed_.load(std::memory_order_relaxed) != 0)
                finish(entry, value, failed_code_.load(std::memory_order_relaxed));
            else if (cancelled)
                finish(entry, value, Code::cancelled);
            else
                return moved;
            break;
        case Stage::removed:
            finish(entry, value, entry.code);
            break;
        case Stage::running:
            if (!finish_running(entry, value)) return moved;
            break;
        }
        moved = true;
    }
}

bool QueueCore::finish_running(Entry &entry, uint64_t value) noexcept {
    Code code = Code::ok;
    if (entry.program) {
        Program &program = *program_.load(std::memory_order_relaxed);
        switch (program.step(entry.cancelled)) {
        case Program::Step::pending:
            return false;
        case Program::Step::done:
            break;
        case Program::Step::failed: {
            code = program.error().code;
            if (failed_.load(std::memory_order_relaxed) == 0 && !entry.cancelled)
                fail_with(value, code, [&] { return program.error(); });
            break;
        }
        }
    } else {
        const uint64_t device_value = entry.device_value.load(std::memory_order_relaxed);
        if (device_value > device_completed_) return false;
        if (device_failed_ != 0 && device_value >= device_failed_) {
            code = device_code_;
        } else {
            // The device waited for what it was told to; whether that went well only the fabric knows.
            if (!deps_done(entry, value, code)) return false;
        }
    }
    finish(entry, value, code);
    return true;
}

// False: what it waited for has completed at the device, but is not retired yet.
bool QueueCore::deps_done(Entry &entry, uint64_t value, Code &code) noexcept {
    for (const Dep &dep : entry.deps) {
        if (dep.core && dep.core.get() == this) continue; // retired before, or we would not be here
        if (dep.core && dep.core->outcome(dep.value).state == Outcome::State::pending) dep.core->pump();
        const Outcome outcome = dep.core ? dep.core->outcome(dep.value) : dep.entry->outcome_when_closed(dep.value);
        if (outcome.state == Outcome::State::pending) return false;
        if (outcome.code == Code::ok || code != Code::ok) continue;
        code = outcome.code;
        if (failed_.load(std::memory_order_relaxed) == 0 && !entry.cancelled)
            fail_with(value, code, [&] { return failure_of(dep, value, code); });
    }
    return true;
}

void QueueCore::note_cancelled(uint64_t value) noexcept {
    std::lock_guard lock(failure_mutex_);
    cancelled_.push_back(value); // cancel made room
    any_cancelled_.store(true, std::memory_order_release);
}

void QueueCore::finish(Entry &entry, uint64_t value, Code code) noexcept {
    const std::span<const Op> ops(entry.ops, entry.op_count);
    const bool ran = entry.stage == Stage::running;
    if (entry.cancelled) {
        code = Code::cancelled; // whatever came of it
        note_cancelled(value);
    } else if (failed_.load(std::memory_order_relaxed) != 0) {
        if (failed_.load(std::memory_order_relaxed) != value) code = failed_code_.load(std::memory_order_relaxed);
    } else if (code == Code::ok) {
        // A program settled its segments itself.
        if (!entry.program && !ops.empty()) {
            const Mismatch found = settle(ops, entry.data, entry.checked_bytes, entry.verified_by);
            if (found.slot != nullptr) {
                code = Code::data_loss;
                fail_with(value, code, [&] { return describe(found); });
            }
        }
    } else {
        fail_with(value, code, [&] { return why_failed(entry, value, code); });
    }
    if (code != Code::ok && ran) forget(ops, entry.data);

    Record &record = history_[value & history_mask_];
    record.value.store(0, std::memory_order_relaxed); // whoever sees a new field sees this, or later
    record.code.store(static_cast<uint32_t>(code), std::memory_order_release);
    record.verified.store(static_cast<uint32_t>(entry.verified_by), std::memory_order_release);
    record.checked.store(entry.checked_bytes, std::memory_order_release);
    record.value.store(value, std::memory_order_release);

    release(entry);
    if (handed_.load(std::memory_order_relaxed) < value) handed_.store(value, std::memory_order_release);
    completed_.store(value, std::memory_order_release);
    if (callback_count_.load(std::memory_order_acquire) != 0 && !ProgressThread::on_it()) ProgressThread::wake();
}

Error QueueCore::why_failed(const Entry &entry, uint64_t value, Code code) const {
    if (entry.stage == Stage::removed) return removed_error_;
    AbiError abi;
    if (device_miscounts_.load(std::memory_order_relaxed))
        return {code,
                fmt::format("{}: the plugin returned or completed values that were never submitted", title()),
                no_place,
                {}};
    const bool said = device_->queue_ext->failure(queue_, abi.out()) == HBF_OK;
    Error error = abi.to_error(static_cast<hbf_status>(code), fmt::format("{}: value {}", title(), value));
    error.code = code;
    if (!said) return error;
    if (const RegionSlot *slot = find_slot({entry.ops, entry.op_count}, entry.data, abi.region())) error.place = slot->name;
    return error;
}

// The entry will never run. Its turn to fail the queue comes when it retires.
template <class Compose>
void QueueCore::remove(Entry &entry, Code code, Compose &&compose) noexcept {
    entry.stage = Stage::removed;
    entry.code = code;
    try {
        removed_error_ = compose();
    } catch (...) {
        removed_error_ = Error{code, "out of memory", no_place, {}};
    }
}

// Names what was waited for, and why that failed: the root, not only the link.
Error QueueCore::failure_of(const Dep &dep, uint64_t value, Code code) const {
    Error error{code, fmt::format("{}: value {} waited for value {} of ", title(), value, dep.value), no_place, {}};
    if (!dep.core) {
        error.message += fmt::format("a closed queue, which ended as {}", to_string(code));
        return error;
    }
    error.message += fmt::format("{}, which ended as {}", dep.core->title(), to_string(code));
    if (auto root = dep.core->poisoned(); !root && root.error().code == code) {
        error.message += ": " + root.error().message;
        error.offset = root.error().offset;
        error.place = root.error().place;
    }
    return error;
}

// Hands over, in order, what need no longer be held back. Runs only while the submitter holds off (handed_ < submitted_).
bool QueueCore::hand_over_held() noexcept {
    bool moved = false;
    blocked_on_.reset();
    while (failed_.load(std::memory_order_relaxed) == 0) {
        const uint64_t value = handed_.load(std::memory_order_relaxed) + 1;
        if (value > submitted_.load(std::memory_order_acquire)) break;
        Entry &entry = entry_of(value);
        if (entry.stage != Stage::held) break; // a program at work, or something that will fail the queue
        if (entry.cancelled) {
            entry.stage = Stage::removed;
            entry.code = Code::cancelled;
            handed_.store(value, std::memory_order_release);
            moved = true;
            continue;
        }
        // Whatever it waits for, elsewhere or not yet with the plugin.
        bool ready = true;
        for (const Dep &dep : entry.deps) {
            if (dep.core && dep.core->outcome(dep.value).state == Outcome::State::pending) dep.core->pump();
            const Outcome outcome = dep.core ? dep.core->outcome(dep.value) : dep.entry->outcome_when_closed(dep.value);
            if (outcome.state == Outcome::State::pending) {
                // The plugin can wait for it by itself, if it has it.
                if (!entry.program && &dep.core->device() == device_.get() && dep.core->device_value_of(dep.value) != 0)
                    continue;
                if (dep.core.get() != this) {
                    blocked_on_ = dep.core;
                    blocked_value_ = dep.value;
                }
                ready = false;
                break;
            }
            if (outcome.code != Code::ok) {
                remove(entry, outcome.code, [&] { return failure_of(dep, value, outcome.code); });
                return true; // everything behind it fails with it, once it retires
            }
        }
        if (!ready) break;
        if (entry.program) {
            if (completed_.load(std::memory_order_relaxed) != value - 1) break; // sees the effects of all before it
            program_.load(std::memory_order_relaxed)->start(entry);
            entry.stage = Stage::running;
            return true;
        }
        if (!resolve_waits(entry)) break; // changed between the two looks: next time
        AbiError error;
        const hbf_status status = hand_over(entry, error.out());
        if (status == HBF_EXHAUSTED && device_submitted_.load(std::memory_order_relaxed) != device_completed_)
            break; // later
        if (status != HBF_OK) {
            remove(entry, to_code(status),
                   [&] { return error.to_error(status, fmt::format("{}: value {}", title(), value)); });
            return true;
        }
        handed_.store(value, std::memory_order_release);
        moved = true;
    }
    return moved;
}

} // namespace hbf::fabric
