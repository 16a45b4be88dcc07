// SPDX-License-Identifier: Apache-2.0
// The threads that do the work nobody waits for, shared by the queues of one instance.
//
// A worker keeps to the CPUs of one NUMA node (in turn, over the nodes this process may use), not to one CPU: a CPU kept
// busy by someone else must not hold a copy back.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace hbf::host {

// Something to run, again and again. In the pool's list at most once at a time.
class Task {
public:
    virtual ~Task() = default;
    virtual void run() noexcept = 0;

private:
    friend class WorkerPool;
    Task *next_ = nullptr;
    bool queued_ = false;
    unsigned running_ = 0;
};

class WorkerPool {
public:
    explicit WorkerPool(unsigned workers); // 0: one less than the CPUs of this process, at least 1, at most 4
    ~WorkerPool();
    WorkerPool(const WorkerPool &) = delete;
    WorkerPool &operator=(const WorkerPool &) = delete;

    void start(); // [any thread] the threads, once. Throws Failure EXHAUSTED when there can be none at all.
    unsigned workers() const noexcept { return wanted_; }
    unsigned cpus() const noexcept { return cpus_; } // that this process may use

    void schedule(Task &task) noexcept; // [any thread] nothing if it is already in the list
    void remove(Task &task) noexcept;   // [any thread] out of the list, and waits until nobody runs it
    bool others_waiting() const noexcept { return waiting_.load(std::memory_order_relaxed) != 0; }

private:
    void work(unsigned number);

    const unsigned cpus_, wanted_;
    std::mutex mutex_;
    std::condition_variable work_, finished_;
    std::vector<std::thread> threads_;
    std::atomic<unsigned> waiting_{0}; // tasks in the list
    unsigned asleep_ = 0;
    Task *first_ = nullptr, *last_ = nullptr;
    bool stopping_ = false;
};

} // namespace hbf::host
