// SPDX-License-Identifier: Apache-2.0
#include "core/fabric/progress_thread.hpp"

#include <algorithm>
#include <csignal>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <pthread.h>

#include "core/fabric/abi_error.hpp"
#include "core/fabric/host_log.hpp"
#include "core/fabric/queue_core.hpp"

namespace hbf::fabric {
namespace {

thread_local bool this_is_it = false;

constexpr auto shortest_pause = std::chrono::microseconds(10), longest_pause = std::chrono::microseconds(250);

} // namespace

ProgressThread &ProgressThread::instance() {
    static auto *thread = new ProgressThread; // outlives every static destructor, as the thread does
    return *thread;
}

bool ProgressThread::on_it() noexcept {
    return this_is_it;
}

void ProgressThread::wake() noexcept {
    ProgressThread &self = instance();
    self.signal_.fetch_add(1, std::memory_order_release);
    self.signal_.notify_one();
}

Result<> ProgressThread::watch(QueueCore &queue) noexcept {
    return guarded([&]() -> Result<> {
        ProgressThread &self = instance();
        if (!queue.watched.load(std::memory_order_acquire)) {
            try {
                self.add(queue);
            } catch (const std::system_error &problem) {
                return fail(Code::exhausted, fmt::format("no progress thread: {}", problem.what()));
            }
        }
        wake();
        return {};
    });
}

void ProgressThread::add(QueueCore &queue) {
    std::lock_guard lock(mutex_);
    if (queue.watched.load(std::memory_order_relaxed)) return;
    std::erase_if(queues_, [](const auto &known) { return known.expired(); });
    queues_.push_back(queue.weak_from_this());
    if (!started_) {
        // Signals are the application's; none is to land here.
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        struct Restore {
            sigset_t &mask;
            ~Restore() { pthread_sigmask(SIG_SETMASK, &mask, nullptr); }
        } restore{before};
        try {
            std::thread([this] { run(); }).detach();
        } catch (...) {
            queues_.pop_back();
            throw;
        }
        started_ = true;
    }
    queue.watched.store(true, std::memory_order_release);
}

void ProgressThread::leave(QueueCore &queue) noexcept {
    if (this_is_it || !queue.watched.load(std::memory_order_acquire)) return;
    ProgressThread &self = instance();
    {
        std::lock_guard lock(self.mutex_);
        const auto ending = queue.weak_from_this();
        std::erase_if(self.queues_,
                      [&](const auto &known) { return !known.owner_before(ending) && !ending.owner_before(known); });
    } // from here on it is not taken hold of again: the caller's reference may be the last
    while (self.held_.load(std::memory_order_acquire) == &queue) std::this_thread::yield();
}

bool ProgressThread::anything_wanted() noexcept {
    std::lock_guard lock(mutex_);
    for (const auto &known : queues_)
        if (const auto queue = known.lock(); queue && queue->wants_progress()) return true;
    return false;
}

// One queue. False: there is none of that index.
bool ProgressThread::serve(size_t index, bool &moved) noexcept {
    std::shared_ptr<QueueCore> queue;
    {
        std::lock_guard lock(mutex_);
        if (index >= queues_.size()) return false;
        queue = queues_[index].lock();
        if (!queue || !queue->wants_progress()) {
            queue.reset(); // under the lock, so that who leaves afterwards holds the last reference
            return true;
        }
        held_.store(queue.get(), std::memory_order_release);
    }
    moved |= queue->pump();
    queue->run_callbacks();
    queue.reset(); // perhaps the last to hold it: its end runs here, under no lock
    held_.store(nullptr, std::memory_order_release);
    return true;
}

void ProgressThread::run() noexcept {
    this_is_it = true;
    pthread_setname_np(pthread_self(), "hbf-progress");
    auto pause = shortest_pause;
    for (;;) {
        const int seen = signal_.load(std::memory_order_acquire);
        bool moved = false;
        size_t index = 0;
        while (serve(index, moved)) ++index;
        if (!anything_wanted()) {
            signal_.wait(seen, std::memory_order_acquire);
            pause = shortest_pause;
        } else if (moved) {
            pause = shortest_pause;
        } else {
            std::this_thread::sleep_for(pause);
            pause = std::min(pause * 2, longest_pause);
        }
    }
}

} // namespace hbf::fabric
