// SPDX-License-Identifier: Apache-2.0
// How far a queue has come. Shared with the queues that wait for one of its values, so it may outlive the queue.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

#include "hbf/sdk/queue.hpp"

namespace hbf::host {

using Clock = std::chrono::steady_clock;

// A queue, as timelines see it: held back by a value of another one (linked while it waits, one at a time), or itself
// the one that others wait for.
class Held {
public:
    virtual ~Held() = default;
    // [any thread] Neither may call the timeline.
    virtual void resume() noexcept = 0; // the value that held it back completed: it is linked no more
    virtual void hasten() noexcept = 0; // another queue waits for one of its values

private:
    friend class Timeline;
    Held *next_ = nullptr;
    uint64_t value_ = 0;
};

class Timeline {
public:
    explicit Timeline(Held &owner) : owner_(&owner) {}
    void abandon() noexcept { // the owner is about to end
        std::lock_guard lock(mutex_);
        owner_ = nullptr;
    }

    // Counted by hand: a command that waits holds one without allocating.
    void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept {
        if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
    }

    uint64_t completed() const noexcept { return completed_.load(std::memory_order_seq_cst); }
    sdk::Progress progress() const noexcept;
    std::optional<sdk::Failure> failure() const; // of the lowest failed value
    bool failed(uint64_t value) const noexcept { // of a completed value
        const uint64_t first = failed_.load(std::memory_order_acquire);
        return first != 0 && value >= first;
    }

    // [the queue's driver] Values complete one by one; the first failure is recorded before its value completes.
    void complete(uint64_t value) noexcept;
    void fail(uint64_t value, sdk::Failure &&failure) noexcept;
    void wake() noexcept; // sleepers look again

    // Sleeps until `value` completed, `look_again` says so after a wake, or the deadline. True: completed.
    template <class LookAgain>
    bool sleep(uint64_t value, Clock::time_point deadline, const LookAgain &look_again) {
        sleepers_.fetch_add(1, std::memory_order_seq_cst);
        {
            std::unique_lock lock(mutex_);
            while (completed() < value && !look_again()) {
                if (deadline == Clock::time_point::max())
                    wake_.wait(lock);
                else if (wake_.wait_until(lock, deadline) == std::cv_status::timeout)
                    break;
            }
        }
        sleepers_.fetch_sub(1, std::memory_order_relaxed);
        return completed() >= value;
    }

    bool has_sleepers() const noexcept { return sleepers_.load(std::memory_order_seq_cst) != 0; }

    // Has `held` resumed when `value` completes, and the owner drive on until then. False, and nothing is linked, if the
    // value has completed.
    bool hold(Held &held, uint64_t value) noexcept;
    void let_go(Held &held) noexcept; // after it resume is neither running nor will be called

private:
    ~Timeline() = default;

    std::atomic<uint64_t> completed_{0}, failed_{0};
    std::atomic<hbf_status> status_{HBF_OK};
    std::atomic<uint32_t> references_{1}, sleepers_{0}, holds_{0};
    mutable std::mutex mutex_;
    std::condition_variable wake_;
    std::optional<sdk::Failure> failure_;
    Held *held_ = nullptr;
    Held *owner_;
};

} // namespace hbf::host
