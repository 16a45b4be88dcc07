// SPDX-License-Identifier: Apache-2.0
#include "conformance/litmus/crew.hpp"

#include "conformance/litmus/access.hpp"

namespace hbf::litmus {
namespace {

constexpr unsigned spins_to_sleep = 2000, spins_to_yield = 4000;

} // namespace

Threads::Threads(unsigned count) : members_(new Member[count]), count_(count) {
    for (unsigned number = 1; number < count; ++number)
        members_[number].thread = std::thread([this, number] { serve(members_[number], number); });
}

Threads::~Threads() {
    leave_.store(true, std::memory_order_relaxed);
    for (unsigned number = 1; number < count_; ++number) {
        Member &member = members_[number];
        member.asked.fetch_add(1, std::memory_order_release);
        member.asked.notify_one();
        member.thread.join();
    }
}

void Threads::serve(Member &member, unsigned number) {
    for (uint32_t served = 0;; ++served) {
        for (unsigned spin = 0; member.asked.load(std::memory_order_acquire) == served && spin < spins_to_sleep; ++spin)
            relax();
        member.asked.wait(served, std::memory_order_acquire);
        if (leave_.load(std::memory_order_relaxed)) return;
        (*job_)(number);
        member.ended.store(served + 1, std::memory_order_release);
        member.ended.notify_one();
    }
}

void Threads::run(unsigned members, const std::function<void(unsigned)> &job) {
    job_ = &job;
    for (unsigned number = 1; number < members; ++number) {
        members_[number].asked.fetch_add(1, std::memory_order_release);
        members_[number].asked.notify_one();
    }
    job(0);
    for (unsigned number = 1; number < members; ++number) {
        Member &member = members_[number];
        const uint32_t asked = member.asked.load(std::memory_order_relaxed);
        for (unsigned spin = 0; member.ended.load(std::memory_order_acquire) != asked && spin < spins_to_sleep; ++spin)
            relax();
        for (uint32_t ended; (ended = member.ended.load(std::memory_order_acquire)) != asked;)
            member.ended.wait(ended, std::memory_order_acquire);
    }
}

void MeetingPoint::open(unsigned agents, Clock::time_point deadline) {
    agents_ = agents;
    deadline_ = deadline;
    over_.store(false, std::memory_order_relaxed);
    for (Arrival &arrival : arrivals_) arrival.at.store(0, std::memory_order_relaxed);
}

bool MeetingPoint::meet(unsigned agent, uint32_t number) {
    arrivals_[agent].at.store(number, std::memory_order_release);
    for (unsigned other = 0; other < agents_; ++other) {
        for (unsigned spin = 1; arrivals_[other].at.load(std::memory_order_acquire) < number; ++spin) {
            relax();
            if (spin % spins_to_yield != 0) continue;
            if (over_.load(std::memory_order_relaxed)) return false;
            if (agent == 0 && Clock::now() > deadline_) over_.store(true, std::memory_order_relaxed);
            std::this_thread::yield();
        }
    }
    return true;
}

} // namespace hbf::litmus
