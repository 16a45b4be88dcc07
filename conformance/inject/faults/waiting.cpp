// SPDX-License-Identifier: Apache-2.0
// Waiting, cancelling and depth.
#include <atomic>
#include <mutex>

#include "conformance/inject/commands.hpp"
#include "conformance/inject/fault.hpp"
#include "conformance/inject/rewrite_fault.hpp"
#include "hbf/sdk/shell/guard.hpp"

namespace hbf::inject {
namespace {

class TimeoutIgnored final : public Fault {
public:
    using Fault::Fault;

    hbf_status wait(Queue &queue, uint64_t value, uint64_t timeout_ns, hbf_error *e) override {
        return below_->wait(queue, value, timeout_ns != 0 && fires() ? UINT64_MAX : timeout_ns, e);
    }
};
HBF_FAULT(TimeoutIgnored, "timeout-ignored", "a wait with a deadline lasts until the work is done");

// Values that submit has not returned are taken for completed.
class UnreturnedOk final : public RewriteFault {
public:
    using RewriteFault::RewriteFault;

    std::unique_ptr<QueueState> remember_queue() override { return std::make_unique<Last>(); }
    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        const hbf_status status = RewriteFault::submit(queue, batch, out_value, e);
        if (status == HBF_OK && out_value) state_of<Last>(queue).value = *out_value;
        return status;
    }
    bool rewrite(std::vector<hbf_command> &commands) override {
        if (settings().text("call") == "wait") return false;
        return std::erase_if(commands, [&](const hbf_command &command) {
                   if (command.kind != HBF_COMMAND_WAIT || !command.u.wait.queue) return false;
                   Queue *waited = device().live_queue(command.u.wait.queue);
                   return waited && !returned(*waited, command.u.wait.value) && fires();
               }) > 0;
    }
    hbf_status wait(Queue &queue, uint64_t value, uint64_t timeout_ns, hbf_error *e) override {
        if (settings().text("call") != "command" && !returned(queue, value) && fires()) return HBF_OK;
        return below_->wait(queue, value, timeout_ns, e);
    }

private:
    struct Last : QueueState {
        std::atomic<uint64_t> value{0};
    };
    bool returned(Queue &queue, uint64_t value) { return value != 0 && value <= state_of<Last>(queue).value; }
};
HBF_FAULT(UnreturnedOk, "unreturned-value-ok", "a wait for a value that submit has not returned is over at once",
          {.key = "call",
           .kind = Parameter::word,
           .preset = "any",
           .line = "the function, or the command",
           .choices = {"any", "wait", "command"}});

class CancelFault final : public Fault {
public:
    using Fault::Fault;

    std::unique_ptr<QueueState> remember_queue() override { return std::make_unique<State>(); }
    hbf_status cancel(Queue &queue, uint64_t value, hbf_error *e) override {
        const std::string &what = settings().text("what");
        hbf_progress now{};
        now.struct_size = sizeof now;
        if (what == "still-writes" && value != 0 && below_->poll(queue, &now) == HBF_OK && now.completed < value && fires())
            return HBF_OK;
        const hbf_status status = below_->cancel(queue, value, e);
        if (status != HBF_OK || what == "still-writes" || !fires()) return status;
        if (what == "drops-busy") return sdk::shell::refuse(e, HBF_BUSY, "the value runs already");
        uint64_t none = 0;
        state_of<State>(queue).poisoned.compare_exchange_strong(none, value);
        return status;
    }
    hbf_status poll(Queue &queue, hbf_progress *out) override {
        const hbf_status status = below_->poll(queue, out);
        const uint64_t at = state_of<State>(queue).poisoned;
        if (status == HBF_OK && at != 0 && usable(out, HBF_PROGRESS_MIN_SIZE) && out->completed >= at && out->failed == 0)
            out->failed = at, out->status = HBF_CANCELLED;
        return status;
    }

private:
    struct State : QueueState {
        std::atomic<uint64_t> poisoned{0};
    };
};
HBF_FAULT(CancelFault, "cancel-wrong", "a value that was cancelled writes all the same, or is not cancelled as cancel says",
          {.key = "what",
           .kind = Parameter::word,
           .preset = "still-writes",
           .line = "it runs; it poisons its queue; or HBF_BUSY is said and it does not run",
           .choices = {"still-writes", "poisons", "drops-busy"}});

// There is room again once a value is done; then one without commands stands for the batch.
class DepthDrops final : public Fault {
public:
    using Fault::Fault;

    std::unique_ptr<QueueState> remember_queue() override { return std::make_unique<Last>(); }
    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        uint64_t &last = state_of<Last>(queue).value;
        hbf_status status = below_->submit(queue, batch, out_value, e);
        if (status == HBF_EXHAUSTED && out_value && last != 0 && fires()) {
            const hbf_batch empty{sizeof empty, sizeof(hbf_command), nullptr, 0};
            hbf_progress now{};
            now.struct_size = sizeof now;
            below_->poll(queue, &now);
            for (uint64_t value = now.completed + 1; status == HBF_EXHAUSTED && value <= last; ++value) {
                below_->wait(queue, value, patience_ns, nullptr);
                status = below_->submit(queue, &empty, out_value, e);
            }
        }
        if (status == HBF_OK && out_value) last = *out_value;
        return status;
    }

private:
    struct Last : QueueState {
        uint64_t value = 0;
    };
};
HBF_FAULT(DepthDrops, "depth-drops", "a batch for which a full queue has no room gets a value, and is lost");

// An event is a batch that finds another one in flight.
class FullEarly final : public Fault {
public:
    using Fault::Fault;

    std::unique_ptr<QueueState> remember_queue() override { return std::make_unique<Last>(); }
    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        uint64_t &last = state_of<Last>(queue).value;
        hbf_progress now{};
        now.struct_size = sizeof now;
        if (below_->poll(queue, &now) == HBF_OK && now.completed < last && fires()) {
            if (out_value) *out_value = 0;
            return sdk::shell::refuse(e, HBF_EXHAUSTED, "the queue is full");
        }
        const hbf_status status = below_->submit(queue, batch, out_value, e);
        if (status == HBF_OK && out_value) last = *out_value;
        return status;
    }

private:
    struct Last : QueueState {
        uint64_t value = 0;
    };
};
HBF_FAULT(FullEarly, "queue-full-early", "a queue takes one value at a time, however deep it was made");

class QueueInfoLie final : public Fault {
public:
    using Fault::Fault;

    hbf_status queue_info(hbf_queue_info *out, hbf_error *e) override {
        const hbf_status status = below_->queue_info(out, e);
        if (status != HBF_OK || !usable(out, HBF_QUEUE_INFO_MIN_SIZE) || !fires()) return status;
        const std::string &what = settings().text("what");
        uint32_t &limit = what == "commands" ? out->max_commands : what == "depth" ? out->max_depth : out->max_queues;
        limit = limit > UINT32_MAX / 2 ? UINT32_MAX : limit + 1;
        return status;
    }
};
HBF_FAULT(QueueInfoLie, "queue-limit-overstated", "queues declare a limit that is one more than holds",
          {.key = "what",
           .kind = Parameter::word,
           .preset = "commands",
           .line = "of what",
           .choices = {"commands", "depth", "queues"}});

class SubmitAllocates final : public Fault {
public:
    using Fault::Fault;

    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        if (fires()) {
            std::vector<std::byte> memory(settings().number("bytes"));
            asm volatile("" : : "r"(memory.data()) : "memory"); // or the compiler leaves it out
        }
        return below_->submit(queue, batch, out_value, e);
    }
};
HBF_FAULT(SubmitAllocates, "submit-allocates", "every submit takes memory and gives it back",
          {.key = "bytes", .preset = "64", .line = "how much"});

} // namespace
} // namespace hbf::inject
