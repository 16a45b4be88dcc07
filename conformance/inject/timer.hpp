// SPDX-License-Identifier: Apache-2.0
// One thread that does one thing later. It starts at the first `at`, and ends with the object.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace hbf::inject {

class Timer {
public:
    using Clock = std::chrono::steady_clock;

    explicit Timer(std::function<void()> what) : what_(std::move(what)) {}
    ~Timer() { end(); }
    Timer(const Timer &) = delete;
    Timer &operator=(const Timer &) = delete;

    // [any-thread] Does it at `time`, once for all times that were asked for before it did.
    void at(Clock::time_point time) {
        std::lock_guard lock(mutex_);
        if (ended_) return;
        due_ = std::max(due_, time);
        if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
        wake_.notify_one();
    }
    void end() { // what is due is not done any more; what is being done, is
        {
            std::lock_guard lock(mutex_);
            ended_ = true;
            wake_.notify_one();
        }
        if (thread_.joinable()) thread_.join();
    }

private:
    void run() {
        std::unique_lock lock(mutex_);
        while (!ended_) {
            if (due_ == Clock::time_point()) {
                wake_.wait(lock);
            } else if (Clock::now() < due_) {
                wake_.wait_until(lock, Clock::time_point(due_));
            } else {
                due_ = {};
                lock.unlock();
                what_();
                lock.lock();
            }
        }
    }

    const std::function<void()> what_;
    std::mutex mutex_;
    std::condition_variable wake_;
    Clock::time_point due_{};
    bool ended_ = false;
    std::thread thread_;
};

} // namespace hbf::inject
