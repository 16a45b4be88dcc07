// SPDX-License-Identifier: Apache-2.0
#include "thread_engine.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "ring.hpp"
#include "signals_blocked.hpp"

namespace hbf::host {
namespace {

class ThreadEngine final : public Engine {
public:
    ThreadEngine(uint32_t capacity, const IoCalls &calls)
        : capacity_(capacity), calls_(calls), waiting_(capacity), done_(capacity) {
        const uint32_t threads = std::clamp(capacity, 1u, 16u); // a disk wants requests in flight, not CPUs
        threads_.reserve(threads);
        const SignalsBlocked blocked;
        try {
            for (uint32_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
        } catch (const std::exception &) {
            if (threads_.empty()) throw; // a limit of threads or of memory: slower with fewer, nothing else
        }
    }
    ~ThreadEngine() override {
        {
            std::lock_guard lock(mutex_);
            stop_ = true;
        }
        work_.notify_all();
        for (std::thread &thread : threads_) thread.join();
    }

    uint32_t capacity() const override { return capacity_; }

    void push(const IoRequest &request) override {
        {
            std::lock_guard lock(mutex_);
            waiting_.push(request);
        }
        work_.notify_one();
    }
    void flush() override {}

    size_t reap(std::span<IoDone> out, uint64_t timeout_ns) override {
        std::unique_lock lock(mutex_);
        if (done_.empty() && timeout_ns > 0) {
            constexpr uint64_t longest = 3600ull * 1000000000ull; // the caller comes again
            finished_.wait_for(lock, std::chrono::nanoseconds(std::min(timeout_ns, longest)),
                               [&] { return !done_.empty(); });
        }
        size_t count = 0;
        while (count < out.size() && !done_.empty()) out[count++] = done_.pop();
        return count;
    }

private:
    int32_t run(const IoRequest &request) const {
        const auto offset = static_cast<off_t>(request.offset);
        ssize_t moved = request.write ? calls_.write(request.fd, request.data, request.size, offset)
                                      : calls_.read(request.fd, request.data, request.size, offset);
        return moved < 0 ? -errno : static_cast<int32_t>(moved);
    }

    void work() {
        std::unique_lock lock(mutex_);
        for (;;) {
            work_.wait(lock, [&] { return stop_ || !waiting_.empty(); });
            if (waiting_.empty()) return;
            IoRequest request = waiting_.pop();
            lock.unlock();
            int32_t result = run(request);
            lock.lock();
            done_.push({request.id, result});
            finished_.notify_one();
        }
    }

    uint32_t capacity_;
    const IoCalls calls_;
    std::mutex mutex_;
    std::condition_variable work_, finished_;
    Ring<IoRequest> waiting_;
    Ring<IoDone> done_;
    bool stop_ = false;
    std::vector<std::thread> threads_;
};

} // namespace

std::unique_ptr<Engine> make_thread_engine(uint32_t capacity, const IoCalls &calls) {
    return std::make_unique<ThreadEngine>(capacity, calls);
}

} // namespace hbf::host
