// SPDX-License-Identifier: Apache-2.0
// What poll, wait and cancel tell of values, against what is so.
#include <atomic>

#include "conformance/inject/commands.hpp"
#include "conformance/inject/fault.hpp"
#include "hbf/sdk/shell/guard.hpp"

namespace hbf::inject {
namespace {

class KnowsLast : public Fault {
public:
    using Fault::Fault;

    std::unique_ptr<QueueState> remember_queue() override { return std::make_unique<Last>(); }
    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        const hbf_status status = below_->submit(queue, batch, out_value, e);
        if (status == HBF_OK && out_value) last(queue) = *out_value;
        return status;
    }

protected:
    std::atomic<uint64_t> &last(Queue &queue) { return state_of<Last>(queue).value; }

private:
    struct Last : QueueState {
        std::atomic<uint64_t> value{0};
    };
};

// While two are in flight the first of them counts as completed: a later, smaller one may have been.
class OutOfOrder final : public KnowsLast {
public:
    using KnowsLast::KnowsLast;

    hbf_status poll(Queue &queue, hbf_progress *out) override {
        const uint64_t known = last(queue); // first: it only grows
        const hbf_status status = below_->poll(queue, out);
        if (status == HBF_OK && usable(out, HBF_PROGRESS_MIN_SIZE) && out->completed + 2 <= known && fires())
            ++out->completed;
        return status;
    }
};
HBF_FAULT(OutOfOrder, "completes-out-of-order", "poll counts a value that is still in flight where a later one is too");

class TimeoutEarly final : public Fault {
public:
    using Fault::Fault;

    hbf_status wait(Queue &queue, uint64_t value, uint64_t timeout_ns, hbf_error *e) override {
        const bool hit = timeout_ns != 0 && timeout_ns != UINT64_MAX && timeout_ns < settings().number("below") && fires();
        return below_->wait(queue, value, hit ? 0 : timeout_ns, e);
    }
};
HBF_FAULT(TimeoutEarly, "timeout-early", "a wait with a short deadline says HBF_TIMEOUT at once",
          {.key = "below", .preset = "1000000000", .line = "nanoseconds, what is short"});

class UnreturnedCancelOk final : public KnowsLast {
public:
    using KnowsLast::KnowsLast;

    hbf_status cancel(Queue &queue, uint64_t value, hbf_error *e) override {
        if ((value == 0 || value > last(queue)) && fires()) return HBF_OK;
        return below_->cancel(queue, value, e);
    }
};
HBF_FAULT(UnreturnedCancelOk, "unreturned-cancel-ok", "cancel of a value that submit has not returned says HBF_OK");

} // namespace
} // namespace hbf::inject
