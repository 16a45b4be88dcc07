// SPDX-License-Identifier: Apache-2.0
// Waiting and being told.
#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "core/fabric/host_log.hpp"
#include "core/fabric/program.hpp"
#include "core/fabric/progress_thread.hpp"
#include "core/fabric/queue_core.hpp"

namespace hbf::fabric {
namespace {

// What we wait for elsewhere is looked at again this often at least: it may have been settled by other means.
constexpr uint64_t slice_ns = 1'000'000;

void rest(unsigned &round, uint64_t at_most_ns) {
    if (round++ < 32) {
        std::this_thread::yield();
        return;
    }
    const uint64_t pause = std::min<uint64_t>({at_most_ns, 200'000, 5'000ull << std::min(round / 32, 6u)});
    std::this_thread::sleep_for(std::chrono::nanoseconds(pause));
}

} // namespace

Result<Completion> QueueCore::wait(uint64_t value, std::chrono::nanoseconds timeout) {
    using Clock = std::chrono::steady_clock;
    if (ProgressThread::on_it()) return fail(Code::invalid, fmt::format("{}: a callback may not wait", title()));
    if (value == 0 || value > submitted_.load(std::memory_order_acquire))
        return fail(Code::invalid, fmt::format("{}: value {} has not been returned by submit", title(), value));
    const bool limited = timeout != std::chrono::nanoseconds::max();
    const auto begin = limited ? Clock::now() : Clock::time_point();
    unsigned round = 0;
    for (;;) {
        const bool moved = pump();
        if (completed_.load(std::memory_order_acquire) >= value) return result_of(value);
        uint64_t left = UINT64_MAX;
        if (limited) {
            const auto passed = Clock::now() - begin;
            if (passed >= timeout)
                return fail(Code::timeout, fmt::format("{}: value {} is still pending (completed: {})", title(), value,
                                                       completed_.load(std::memory_order_acquire)));
            left = static_cast<uint64_t>((timeout - passed).count());
        }
        if (moved)
            round = 0;
        else
            block(value, left, round);
    }
}

// Lets time pass in the most useful way: in the plugin's wait, which may do the work in this thread.
void QueueCore::block(uint64_t value, uint64_t nanoseconds, unsigned &round) noexcept {
    if (const uint64_t device_value = device_value_of(value); device_value != 0) {
        AbiError error;
        const hbf_status status = device_->queue_ext->wait(queue_, device_value, nanoseconds, error.out());
        if (status == HBF_OK && round == 0) {
            ++round; // now the pump should find it done
            return;
        }
        if (status != HBF_TIMEOUT) rest(round, nanoseconds); // another thread is pumping, or it cannot wait
        return;
    }
    std::shared_ptr<QueueCore> other;
    uint64_t other_value = 0;
    Program::InFlight work;
    if (!pumping_.exchange(true, std::memory_order_acquire)) {
        other = blocked_on_;
        other_value = blocked_value_;
        if (const Program *program = program_.load(std::memory_order_acquire); !other && program != nullptr)
            work = program->in_flight();
        pumping_.store(false, std::memory_order_release);
    }
    const uint64_t slice = std::min(nanoseconds, slice_ns);
    AbiError error;
    if (work.device) {
        if (work.device->queue_ext->wait(work.queue, work.value, slice, error.out()) != HBF_OK) return;
    } else if (other && other.get() != this) {
        if (const uint64_t device_value = other->device_value_of(other_value); device_value != 0)
            if (other->device_->queue_ext->wait(other->queue_, device_value, slice, error.out()) == HBF_TIMEOUT) return;
    }
    rest(round, nanoseconds);
}

Result<> QueueCore::on_complete(uint64_t value, std::function<void(const Result<Completion> &)> callback) {
    if (!callback) return fail(Code::invalid, fmt::format("{}: no callback", title()));
    if (value == 0 || value > submitted_.load(std::memory_order_acquire))
        return fail(Code::invalid, fmt::format("{}: value {} has not been returned by submit", title(), value));
    if (auto watching = ProgressThread::watch(*this); !watching) return watching;
    {
        std::lock_guard lock(callbacks_mutex_);
        const auto later = [](uint64_t wanted, const Callback &other) { return wanted < other.value; };
        callbacks_.insert(std::upper_bound(callbacks_.begin(), callbacks_.end(), value, later),
                          {value, std::move(callback), shared_from_this()});
        callback_count_.fetch_add(1, std::memory_order_release);
    }
    ProgressThread::wake();
    return {};
}

bool QueueCore::wants_progress() const noexcept {
    return callback_count_.load(std::memory_order_acquire) != 0 ||
           handed_.load(std::memory_order_acquire) < submitted_.load(std::memory_order_acquire);
}

// [progress thread] Each is taken out before it is called: exactly once, and under no lock.
void QueueCore::run_callbacks() noexcept {
    while (callback_count_.load(std::memory_order_acquire) != 0) {
        Callback due{0, {}, {}};
        {
            std::lock_guard lock(callbacks_mutex_);
            if (callbacks_.empty() || callbacks_.front().value > completed_.load(std::memory_order_acquire)) return;
            due = std::move(callbacks_.front());
            callbacks_.erase(callbacks_.begin());
        }
        try {
            due.call(guarded([&] { return result_of(due.value); }));
        } catch (...) {
            log_line(HBF_LOG_ERROR, "fabric", "a completion callback threw; its exception is dropped");
        }
        due.call = nullptr; // what it captured goes before it counts as done
        callback_count_.fetch_sub(1, std::memory_order_release);
    }
}

} // namespace hbf::fabric
