// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>

#include "conformance/inject/held_fault.hpp"
#include "conformance/inject/timer.hpp"

namespace hbf::inject {
namespace {

// The value counts as completed at once. The device gets the batch when the next one comes to that queue, when something
// else needs it (a wait for it, a free), or some time later.
class EarlyCompletion final : public HeldFault {
public:
    explicit EarlyCompletion(const Settings &settings) : HeldFault(settings), delay_(settings.number("ms")) {}

    void destroy() override {
        timer_.end();
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
    bool may_hold(const hbf_command &command) const override {
        const std::string &kind = settings().text("kind");
        if (command.kind == HBF_COMMAND_FLUSH || command.kind == HBF_COMMAND_INVALIDATE)
            return kind == (command.kind == HBF_COMMAND_FLUSH ? "flush" : "invalidate");
        if (command.kind == HBF_COMMAND_LAUNCH) return kind == "launch";
        return kind == "data" && HeldFault::may_hold(command);
    }
    void held(State &state) override {
        early(state).store(state.last, std::memory_order_release);
        timer_.at(Timer::Clock::now() + delay_);
    }

private:
    struct Claim : State {
        std::atomic<uint64_t> value{0};
    };
    std::unique_ptr<QueueState> remember_queue() override { return std::make_unique<Claim>(); }
    std::atomic<uint64_t> &early(State &state) { return static_cast<Claim &>(state).value; }
    std::atomic<uint64_t> &claimed(Queue &queue) { return early(state(queue)); }

    const std::chrono::milliseconds delay_;
    Timer timer_{[this] { release_all(); }};
};
HBF_FAULT(EarlyCompletion, "early-completion", "a value counts as completed before its commands have begun", parameter::tier,
          {.key = "kind",
           .kind = Parameter::word,
           .preset = "data",
           .line = "batches of copies and fills, or of these",
           .choices = {"data", "flush", "invalidate", "launch"}},
          {.key = "ms", .preset = "200", .line = "milliseconds until they begin, if nothing else makes them"});

} // namespace
} // namespace hbf::inject
