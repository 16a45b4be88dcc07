// SPDX-License-Identifier: Apache-2.0
// The core's one thread of its own: runs callbacks, and moves what is held back when nobody polls. Made at first use, asleep
// when there is nothing to do, never joined: a process may exit at any point.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "hbf/status.hpp"

namespace hbf::fabric {

class QueueCore;

class ProgressThread {
public:
    // [any thread] The queue is looked after from now on, until it is gone. The first time for a queue allocates and locks;
    // later it only wakes the thread. Code::exhausted if there can be no thread; then callers' polls are what moves work.
    static Result<> watch(QueueCore &queue) noexcept;
    static void wake() noexcept;                  // something it looks after may have moved
    static void leave(QueueCore &queue) noexcept; // returns once the thread has let go of a queue that wants nothing more
    static bool on_it() noexcept;                 // the caller is that thread

private:
    ProgressThread() = default;
    static ProgressThread &instance();
    void add(QueueCore &queue); // throws
    void run() noexcept;
    bool anything_wanted() noexcept;
    bool serve(size_t index, bool &moved) noexcept;

    std::mutex mutex_; // queues_, started_, and taking hold of a queue
    std::vector<std::weak_ptr<QueueCore>> queues_;
    bool started_ = false;
    std::atomic<int> signal_{0};
    std::atomic<QueueCore *> held_{nullptr}; // the queue that the thread is at
};

} // namespace hbf::fabric
