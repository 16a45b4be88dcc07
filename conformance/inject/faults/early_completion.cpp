// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <thread>

#include "conformance/inject/held_fault.hpp"

namespace hbf::inject {
namespace {

using Clock = std::chrono::steady_clock;

// The value counts as completed at once. The device gets the batch when the next one comes to that queue, when something
// else needs it (a wait for it, a free), or some time later.
class EarlyCompletion final : public HeldFault {
public:
    explicit EarlyCompletion(const Settings &settings) : HeldFault(settings), delay_(settings.number("ms")) {}
    ~EarlyCompletion() override { end(); }

    hbf_status create_queue(const hbf_queue_desc *desc, Queue &queue, hbf_error *e) override {
        const hbf_status status = HeldFault::create_queue(desc, queue, e);
        std::lock_guard lock(timer_mutex_);
        if (!timer_.joinable()) timer_ = std::thread([this] { run(); });
        return status;
    }
    void destroy() override {
        end();
        HeldFault::destroy();
    }
    hbf_status poll(Queue &queue, hbf_progress *out) override {
        const hbf_status status = below_->poll(queue, out);
        if (status == HBF_OK && usable(out, HBF_PROGRESS_MIN_SIZE))
            out->completed = std::max(out->completed, claimed(queue).load(std::memory_order_acquire));
        return status;
    }
    hbf_status wait(Queue &queue, uint64_t value, uint64_t timeout_ns, hbf_error *e) override {
        if (value != 0 && value <= claimed(queue).load(std::memory_order_acquire)) return HBF_OK;
        return below_->wait(queue, value, timeout_ns, e);
    }
    hbf_status cancel(Queue &queue, uint64_t value, hbf_error *e) override {
        release(queue);
        return below_->cancel(queue, value, e);
    }

protected:
    void held(State &state) override {
        early(state).store(state.last, std::memory_order_release);
        std::lock_guard lock(timer_mutex_);
        due_ = std::max(due_, Clock::now() + delay_);
        wake_.notify_one();
    }

private:
    struct Claim : State {
        std::atomic<uint64_t> value{0};
    };
    std::unique_ptr<QueueState> remember_queue() override { return std::make_unique<Claim>(); }
    std::atomic<uint64_t> &early(State &state) { return static_cast<Claim &>(state).value; }
    std::atomic<uint64_t> &claimed(Queue &queue) { return early(state(queue)); }

    void run() {
        std::unique_lock lock(timer_mutex_);
        while (!ended_) {
            if (due_ == Clock::time_point()) {
                wake_.wait(lock);
            } else if (Clock::now() < due_) {
                wake_.wait_until(lock, due_);
            } else {
                due_ = {};
                lock.unlock();
                release_all();
                lock.lock();
            }
        }
    }
    void end() {
        {
            std::lock_guard lock(timer_mutex_);
            ended_ = true;
            wake_.notify_one();
        }
        if (timer_.joinable()) timer_.join();
    }

    const std::chrono::milliseconds delay_;
    std::mutex timer_mutex_;
    std::condition_variable wake_;
    Clock::time_point due_{};
    bool ended_ = false;
    std::thread timer_;
};
HBF_FAULT(EarlyCompletion, "early-completion", "a value counts as completed before its commands have begun", parameter::tier,
          {.key = "ms", .preset = "200", .line = "milliseconds until they begin, if nothing else makes them"});

} // namespace
} // namespace hbf::inject
