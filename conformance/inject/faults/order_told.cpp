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

// From the value that is hit on, numbers are one too high.
class ValuesSkip final : public Fault {
public:
    using Fault::Fault;

    std::unique_ptr<QueueState> remember_queue() override { return std::make_unique<Skip>(); }
    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        const hbf_status status = below_->submit(queue, batch, out_value, e);
        if (status != HBF_OK || !out_value) return status;
        uint64_t none = 0;
        if (fires()) from(queue).compare_exchange_strong(none, *out_value);
        *out_value = told(queue, *out_value);
        return status;
    }
    hbf_status poll(Queue &queue, hbf_progress *out) override {
        const hbf_status status = below_->poll(queue, out);
        if (status == HBF_OK && usable(out, HBF_PROGRESS_MIN_SIZE)) {
            out->completed = told(queue, out->completed);
            out->failed = told(queue, out->failed);
        }
        return status;
    }
    hbf_status wait(Queue &queue, uint64_t value, uint64_t timeout_ns, hbf_error *e) override {
        return below_->wait(queue, meant(queue, value), timeout_ns, e);
    }
    hbf_status cancel(Queue &queue, uint64_t value, hbf_error *e) override {
        return below_->cancel(queue, meant(queue, value), e);
    }

private:
    struct Skip : QueueState {
        std::atomic<uint64_t> from{0};
    };
    std::atomic<uint64_t> &from(Queue &queue) { return state_of<Skip>(queue).from; }
    uint64_t told(Queue &queue, uint64_t value) {
        const uint64_t at = from(queue);
        return at != 0 && value >= at ? value + 1 : value;
    }
    uint64_t meant(Queue &queue, uint64_t value) {
        const uint64_t at = from(queue);
        return at != 0 && value > at && value != UINT64_MAX ? value - 1 : value;
    }
};
HBF_FAULT(ValuesSkip, "values-skip", "a queue leaves out a number when it counts its values");

// An event is a batch that was taken.
class ValueToldWrong final : public Fault {
public:
    using Fault::Fault;

    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        const hbf_status status = below_->submit(queue, batch, out_value, e);
        if (status == HBF_OK && out_value && fires()) ++*out_value;
        return status;
    }
};
HBF_FAULT(ValueToldWrong, "value-told-wrong", "submit returns the value after the batch's own");

class EmptyBatchRefused final : public Fault {
public:
    using Fault::Fault;

    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        if (!usable(batch, HBF_BATCH_MIN_SIZE) || batch->command_count != 0 || !fires())
            return below_->submit(queue, batch, out_value, e);
        if (out_value) *out_value = 0;
        return sdk::shell::refuse(e, HBF_INVALID, "there is nothing in the batch");
    }
};
HBF_FAULT(EmptyBatchRefused, "empty-batch-refused", "a batch without commands is refused");

// A value that failed is told of once; after that the queue looks healthy.
class FailureForgotten final : public Fault {
public:
    using Fault::Fault;

    std::unique_ptr<QueueState> remember_queue() override { return std::make_unique<Told>(); }
    hbf_status poll(Queue &queue, hbf_progress *out) override {
        const hbf_status status = below_->poll(queue, out);
        if (status != HBF_OK || !usable(out, HBF_PROGRESS_MIN_SIZE) || out->failed == 0) return status;
        if (state_of<Told>(queue).once.exchange(true)) out->failed = 0, out->status = HBF_OK;
        return status;
    }

private:
    struct Told : QueueState {
        std::atomic<bool> once{false};
    };
};
HBF_FAULT(FailureForgotten, "failure-forgotten", "poll tells of a failed value once, and never again");

// From its first failure on, no more values of a queue count as completed, though a wait for them ends.
class FailedQueueStops final : public Fault {
public:
    using Fault::Fault;

    std::unique_ptr<QueueState> remember_queue() override { return std::make_unique<At>(); }
    hbf_status poll(Queue &queue, hbf_progress *out) override {
        const hbf_status status = below_->poll(queue, out);
        if (status != HBF_OK || !usable(out, HBF_PROGRESS_MIN_SIZE) || out->failed == 0) return status;
        uint64_t none = 0;
        state_of<At>(queue).completed.compare_exchange_strong(none, out->completed);
        out->completed = state_of<At>(queue).completed;
        return status;
    }

private:
    struct At : QueueState {
        std::atomic<uint64_t> completed{0};
    };
};
HBF_FAULT(FailedQueueStops, "failed-queue-stops", "nothing that comes after a failed value of its queue ever completes");

// To every queue of the instance that ever waited for another one.
class FailureSpreads final : public Fault {
public:
    using Fault::Fault;

    std::unique_ptr<QueueState> remember_queue() override { return std::make_unique<Waited>(); }
    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        for (uint64_t i = 0; readable(queue, batch) && i < batch->command_count; ++i)
            if (command_at(*batch, i).kind == HBF_COMMAND_WAIT) state_of<Waited>(queue).waited = true;
        return below_->submit(queue, batch, out_value, e);
    }
    hbf_status poll(Queue &queue, hbf_progress *out) override {
        const hbf_status status = below_->poll(queue, out);
        if (status != HBF_OK || !usable(out, HBF_PROGRESS_MIN_SIZE)) return status;
        if (out->failed != 0) any_ = true;
        if (any_ && state_of<Waited>(queue).waited && out->failed == 0 && out->completed > 0)
            out->failed = out->completed, out->status = HBF_INTERNAL;
        return status;
    }

private:
    struct Waited : QueueState {
        std::atomic<bool> waited{false};
    };
    std::atomic<bool> any_{false};
};
HBF_FAULT(FailureSpreads, "failure-spreads",
          "where a value of one queue has failed, so have those of all queues that ever waited for one");

class BusyDestroyBreaks final : public Fault {
public:
    using Fault::Fault;

    std::unique_ptr<QueueState> remember_queue() override { return std::make_unique<Broken>(); }
    hbf_status destroy_queue(Queue &queue, hbf_error *e) override {
        const hbf_status status = below_->destroy_queue(queue, e);
        if (status == HBF_BUSY && fires()) state_of<Broken>(queue).broken = true;
        return status;
    }
    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        if (!state_of<Broken>(queue).broken) return below_->submit(queue, batch, out_value, e);
        if (out_value) *out_value = 0;
        return sdk::shell::refuse(e, HBF_BUSY, "the queue is about to end");
    }

private:
    struct Broken : QueueState {
        std::atomic<bool> broken{false};
    };
};
HBF_FAULT(BusyDestroyBreaks, "busy-destroy-breaks", "a queue whose destroy said HBF_BUSY takes no more batches");

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
