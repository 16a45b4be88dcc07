// SPDX-License-Identifier: Apache-2.0
// Transfers that wait for their turn: loads before stores, each in the order of its coming, each with a deadline. A thread
// of its own does them, or whoever calls run_one().
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "core/engine/types.hpp"

namespace hbf::kv {

class Transfers {
public:
    using Clock = std::chrono::steady_clock;
    struct Transfer {
        BlockId block = no_block;
        Tier to = Tier::hbm;
        bool load = false; // somebody waits for it
        uint8_t why = 0;   // the caller's
        Clock::time_point deadline;
        uint64_t ticket = 0;
    };
    struct Counts {
        uint64_t done = 0, failed = 0, expired = 0, cancelled = 0, refused = 0; // refused: there was no room to wait in
    };
    // True: it was done. Throws nothing.
    using Work = std::function<bool(const Transfer &)>;

    // `decide`: called by the thread before each transfer, and when it is woken: the place to add() what comes next.
    Transfers(Work work, size_t most_waiting, std::function<void()> decide = {})
        : work_(std::move(work)), most_(most_waiting), decide_(std::move(decide)) {}
    ~Transfers() { stop(); }
    Transfers(const Transfers &) = delete;
    Transfers &operator=(const Transfers &) = delete;

    void start(); // the thread
    void stop();  // what has begun is finished, what has not is cancelled [not from the work]

    // A ticket, 0 if as many wait as may.
    uint64_t add(BlockId block, Tier to, bool load, Clock::time_point deadline, uint8_t why = 0);
    // Has the thread decide. [any thread] nudge() takes no lock, and may be lost where the thread is just falling asleep.
    void wake();
    void nudge() noexcept;
    // True: it will not be done. False: it was done, or is being done.
    bool cancel(uint64_t ticket);
    bool run_one();   // in this thread; false if none waits
    void wait_idle(); // until none waits and none is being done
    Counts counts() const;
    size_t waiting() const;

private:
    bool next(Transfer &out); // under the lock

    const Work work_;
    const size_t most_;
    const std::function<void()> decide_;
    std::atomic<bool> woken_{false};
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Transfer> loads_, stores_;
    Counts counts_;
    uint64_t last_ticket_ = 0;
    size_t running_ = 0;
    bool stopping_ = false;
    std::thread thread_;
};

} // namespace hbf::kv
