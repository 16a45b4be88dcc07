// SPDX-License-Identifier: Apache-2.0
#include "conformance/measure/reference.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "conformance/measure/clock.hpp"
#include "conformance/measure/placement.hpp"
#include "kernels/host/copy.hpp"

namespace hbf::measure {

std::string to_string(ReferenceCopy kind) {
    return kind == ReferenceCopy::libc_memcpy ? "memcpy" : "streaming";
}

void plain_copy(ReferenceCopy kind, std::byte *dst, const std::byte *src, uint64_t size) noexcept {
    if (kind == ReferenceCopy::libc_memcpy)
        std::memcpy(dst, src, size);
    else
        kernels::copy(dst, src, size, kernels::Stores::streaming);
}

struct ReferenceTeam::State {
    struct Job {
        ReferenceCopy kind = ReferenceCopy::libc_memcpy;
        size_t threads = 0;
        std::byte *dst = nullptr;
        const std::byte *src = nullptr;
        uint64_t size = 0, piece = 0;
        uint32_t passes = 1;
    };
    std::mutex mutex;
    std::condition_variable work, done;
    Job job;
    uint64_t round = 0;
    size_t ready = 0, left = 0;
    std::atomic<bool> gate{false}; // released once all are awake: waking is not copying
    std::atomic<size_t> running{0};
    Clock::time_point end;
    bool stop = false;
    std::vector<std::jthread> threads;

    void copy_part(size_t index) const {
        const uint64_t part = (job.size / job.threads) & ~uint64_t{63};
        const uint64_t begin = part * index;
        const uint64_t finish = index + 1 == job.threads ? job.size : begin + part;
        for (uint32_t pass = 0; pass < job.passes; ++pass) {
            for (uint64_t at = begin; at < finish; at += job.piece) {
                const auto bytes = std::min(job.piece, finish - at);
                plain_copy(job.kind, job.dst + at, job.src + at, bytes);
            }
        }
    }

    void serve(size_t index, int cpu) {
        bind_thread({cpu});
        uint64_t seen = 0;
        std::unique_lock lock(mutex);
        while (true) {
            work.wait(lock, [&] { return stop || round != seen; });
            if (stop) return;
            seen = round;
            if (index >= job.threads) continue;
            if (++ready == job.threads) done.notify_one();
            lock.unlock();
            while (!gate.load(std::memory_order_acquire)) std::this_thread::yield();
            copy_part(index);
            if (running.fetch_sub(1, std::memory_order_acq_rel) == 1) end = Clock::now();
            lock.lock();
            if (--left == 0) done.notify_one();
        }
    }
};

ReferenceTeam::ReferenceTeam(const std::vector<int> &cpus) : state_(std::make_unique<State>()) {
    for (size_t i = 0; i < std::max<size_t>(1, cpus.size()); ++i) {
        const int cpu = cpus.empty() ? -1 : cpus[i];
        state_->threads.emplace_back([state = state_.get(), i, cpu] { state->serve(i, cpu); });
    }
}

ReferenceTeam::~ReferenceTeam() {
    {
        std::lock_guard lock(state_->mutex);
        state_->stop = true;
    }
    state_->work.notify_all();
    state_->threads.clear();
}

size_t ReferenceTeam::size() const {
    return state_->threads.size();
}

double ReferenceTeam::run(ReferenceCopy kind, size_t threads, std::byte *dst, const std::byte *src, uint64_t size,
                          uint64_t piece, uint32_t passes) {
    auto &state = *state_;
    std::unique_lock lock(state.mutex);
    threads = std::clamp<size_t>(threads, 1, state.threads.size());
    state.job = {kind, threads, dst, src, size, piece, passes};
    state.ready = 0;
    state.left = threads;
    state.running.store(threads, std::memory_order_relaxed);
    state.gate.store(false, std::memory_order_relaxed);
    ++state.round;
    state.work.notify_all();
    state.done.wait(lock, [&] { return state.ready == threads; });
    const auto begin = Clock::now();
    state.gate.store(true, std::memory_order_release);
    state.done.wait(lock, [&] { return state.left == 0; });
    return seconds_between(begin, state.end);
}

} // namespace hbf::measure
