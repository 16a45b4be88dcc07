// SPDX-License-Identifier: Apache-2.0
#include "worker_pool.hpp"

#ifdef HBF_HAVE_NUMA
#include <numa.h>
#endif
#include <algorithm>
#include <array>
#include <system_error>

#include <pthread.h>
#include <sched.h>

#include "hbf/sdk/failure.hpp"
#include "signals_blocked.hpp"

namespace hbf::host {
namespace {

unsigned allowed_cpus() {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
    return std::max(1u, std::thread::hardware_concurrency()); // more CPUs than the set can name
}

#ifdef HBF_HAVE_NUMA
// The node of each CPU a cpu_set_t can name, -1 unknown. Asked once in the process: libnuma fills its own tables at the
// first question without a lock. A plain array, since a worker has nobody to tell that there was no memory.
const std::array<int, CPU_SETSIZE> &nodes_of_cpus() {
    static const auto nodes = [] {
        std::array<int, CPU_SETSIZE> found;
        const bool known = numa_available() >= 0;
        for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) found[static_cast<size_t>(cpu)] = known ? numa_node_of_cpu(cpu) : -1;
        return found;
    }();
    return nodes;
}
#endif

// Keeps the calling thread to one of the nodes that its CPUs belong to. Best effort: unpinned is slower, not wrong.
void keep_to_a_node([[maybe_unused]] unsigned number) {
#ifdef HBF_HAVE_NUMA
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    const auto &nodes = nodes_of_cpus();
    const auto cpus_of = [&](int node) {
        cpu_set_t here;
        CPU_ZERO(&here);
        for (size_t cpu = 0; cpu < nodes.size(); ++cpu)
            if (nodes[cpu] == node && CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &here);
        return here;
    };
    const int last = *std::max_element(nodes.begin(), nodes.end());
    unsigned populated = 0;
    for (int node = 0; node <= last; ++node) {
        const cpu_set_t here = cpus_of(node);
        populated += CPU_COUNT(&here) > 0;
    }
    if (populated < 2) return;
    unsigned passed = 0;
    for (int node = 0; node <= last; ++node) {
        const cpu_set_t here = cpus_of(node);
        if (CPU_COUNT(&here) == 0 || passed++ != number % populated) continue;
        (void)pthread_setaffinity_np(pthread_self(), sizeof(cpu_set_t), &here);
        return;
    }
#endif
}

} // namespace

WorkerPool::WorkerPool(unsigned workers)
    : cpus_(allowed_cpus()), wanted_(workers ? workers : std::clamp(cpus_ - 1, 1u, 4u)) {}

WorkerPool::~WorkerPool() {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    work_.notify_all();
    for (auto &thread : threads_) thread.join();
}

void WorkerPool::start() {
    std::lock_guard lock(mutex_);
    if (!threads_.empty()) return;
    const SignalsBlocked blocked;
    threads_.reserve(wanted_);
    for (unsigned number = 0; number < wanted_; ++number) try {
            threads_.emplace_back([this, number] { work(number); });
            pthread_setname_np(threads_.back().native_handle(), "hbf-copy");
        } catch (const std::exception &error) {
            if (threads_.empty()) sdk::fail(HBF_EXHAUSTED, std::string("no thread for the copy workers: ") + error.what());
            return; // fewer do the same work
        }
}

void WorkerPool::schedule(Task &task) noexcept {
    bool sleeping;
    {
        std::lock_guard lock(mutex_);
        if (task.queued_) return;
        task.queued_ = true;
        task.next_ = nullptr;
        (first_ ? last_->next_ : first_) = &task;
        last_ = &task;
        waiting_.fetch_add(1, std::memory_order_relaxed);
        sleeping = asleep_ != 0;
    }
    if (sleeping) work_.notify_one();
}

void WorkerPool::remove(Task &task) noexcept {
    std::unique_lock lock(mutex_);
    if (task.queued_) {
        Task *before = nullptr;
        for (Task *at = first_; at != &task; at = at->next_) before = at;
        (before ? before->next_ : first_) = task.next_;
        if (last_ == &task) last_ = before;
        task.queued_ = false;
        waiting_.fetch_sub(1, std::memory_order_relaxed);
    }
    finished_.wait(lock, [&] { return task.running_ == 0; });
}

void WorkerPool::work(unsigned number) {
    keep_to_a_node(number);
    std::unique_lock lock(mutex_);
    for (;;) {
        ++asleep_;
        work_.wait(lock, [&] { return stopping_ || first_; });
        --asleep_;
        if (stopping_) return;
        Task *const task = first_;
        first_ = task->next_;
        if (!first_) last_ = nullptr;
        task->queued_ = false;
        ++task->running_;
        waiting_.fetch_sub(1, std::memory_order_relaxed);
        lock.unlock();
        task->run();
        lock.lock();
        if (--task->running_ == 0) finished_.notify_all();
    }
}

} // namespace hbf::host
