// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <deque>
#include <mutex>
#include <thread>

#include "conformance/inject/commands.hpp"
#include "conformance/inject/fault.hpp"
#include "hbf/sdk/shell/guard.hpp"

namespace hbf::inject {
namespace {

using Clock = std::chrono::steady_clock;

// A value is not seen completed before its bytes could have passed at the rate.
class Throttled final : public Fault {
public:
    using Fault::Fault;

    std::unique_ptr<QueueState> remember_queue() override { return std::make_unique<State>(); }
    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        uint64_t bytes = 0;
        for (uint64_t i = 0; readable(queue, batch) && i < batch->command_count; ++i)
            if (in_tier(command_at(*batch, i))) bytes += destination(command_at(*batch, i)).size;
        const double ns =
            static_cast<double>(bytes) * 1e9 / static_cast<double>(std::max<uint64_t>(settings().number("bps"), 1)) +
            1e3 * static_cast<double>(settings().number("us"));
        State &state = state_of<State>(queue);
        std::lock_guard lock(state.mutex);
        const hbf_status status = below_->submit(queue, batch, out_value, e);
        if (status != HBF_OK || !out_value || bytes == 0 || !fires()) return status;
        state.free_at = std::max(state.free_at, Clock::now()) + std::chrono::nanoseconds(static_cast<int64_t>(ns));
        state.due.push_back({*out_value, state.free_at});
        return status;
    }
    hbf_status poll(Queue &queue, hbf_progress *out) override {
        State &state = state_of<State>(queue);
        std::lock_guard lock(state.mutex);
        while (!state.due.empty() && state.due.front().at <= Clock::now()) state.due.pop_front();
        const hbf_status status = below_->poll(queue, out);
        if (status == HBF_OK && usable(out, HBF_PROGRESS_MIN_SIZE) && !state.due.empty()) {
            out->completed = std::min(out->completed, state.due.front().value - 1);
            if (out->failed > out->completed) out->failed = 0, out->status = HBF_OK;
        }
        return status;
    }
    hbf_status wait(Queue &queue, uint64_t value, uint64_t timeout_ns, hbf_error *e) override {
        const Clock::time_point begin = Clock::now();
        const hbf_status status = below_->wait(queue, value, timeout_ns, e);
        if (status != HBF_OK) return status;
        State &state = state_of<State>(queue);
        Clock::time_point until = begin;
        {
            std::lock_guard lock(state.mutex);
            for (const Due &due : state.due)
                if (due.value <= value) until = due.at;
        }
        const bool limited = timeout_ns < uint64_t{1} << 62;
        if (limited && until > begin + std::chrono::nanoseconds(timeout_ns)) {
            std::this_thread::sleep_until(begin + std::chrono::nanoseconds(timeout_ns));
            return sdk::shell::refuse(e, HBF_TIMEOUT, "the value has not completed in time");
        }
        std::this_thread::sleep_until(until);
        return status;
    }

private:
    struct Due {
        uint64_t value;
        Clock::time_point at;
    };
    struct State : QueueState {
        std::mutex mutex;
        Clock::time_point free_at{};
        std::deque<Due> due;
    };
};
HBF_FAULT(Throttled, "throttled", "copies and fills take longer than they need", parameter::tier,
          {.key = "bps", .preset = "50000000", .line = "bytes per second of each queue"},
          {.key = "us", .preset = "0", .line = "microseconds more for each value"});

} // namespace
} // namespace hbf::inject
