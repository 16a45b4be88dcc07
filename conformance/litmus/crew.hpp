// SPDX-License-Identifier: Apache-2.0
// The threads of a harness, and how they meet.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace hbf::litmus {

using Clock = std::chrono::steady_clock;

// Threads that wait for work: member 0 is whoever calls run(). A waiting member spins for a moment, then sleeps.
class Threads {
public:
    explicit Threads(unsigned count); // with the caller
    ~Threads();
    Threads(const Threads &) = delete;
    Threads &operator=(const Threads &) = delete;

    // job(0) here and job(1) ... in the others; returns when all have ended.
    void run(unsigned members, const std::function<void(unsigned)> &job);

private:
    struct alignas(64) Member {
        std::atomic<uint32_t> asked{0}, ended{0};
        std::thread thread;
    };
    void serve(Member &member, unsigned number);

    const std::function<void(unsigned)> *job_ = nullptr;
    std::atomic<bool> leave_{false};
    std::unique_ptr<Member[]> members_;
    unsigned count_;
};

// Where agents meet before an instance. Spins long: on a busy machine two threads run together only while both keep their
// CPU, and one that yields at once never sees the other.
class MeetingPoint {
public:
    void open(unsigned agents, Clock::time_point deadline); // before the batch, by one thread
    bool meet(unsigned agent, uint32_t number);             // number > 0, rising; false: time is up, leave

private:
    struct alignas(64) Arrival {
        std::atomic<uint32_t> at{0};
    };
    Arrival arrivals_[8];
    alignas(64) std::atomic<bool> over_{false};
    unsigned agents_ = 0;
    Clock::time_point deadline_;
};

} // namespace hbf::litmus
