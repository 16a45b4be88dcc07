// SPDX-License-Identifier: Apache-2.0
// Calls that go well and give the wrong thing.
#include <algorithm>
#include <atomic>
#include <cstddef>

#include "conformance/inject/commands.hpp"
#include "conformance/inject/fault.hpp"

namespace hbf::inject {
namespace {

// An event is a call of the kind that would have given something. Nothing is made.
class NothingGiven final : public Fault {
public:
    using Fault::Fault;

    hbf_status create(const hbf_create_in *in, hbf_error *e) override {
        return of("create") && fires() ? HBF_OK : below_->create(in, e);
    }
    hbf_status alloc(const hbf_alloc_desc *desc, hbf_region_info *out, hbf_error *e) override {
        if (!of("alloc") || !usable(out, HBF_REGION_INFO_MIN_SIZE) || !fires()) return below_->alloc(desc, out, e);
        out->region = 0;
        return HBF_OK;
    }
    hbf_status create_queue(const hbf_queue_desc *desc, Queue &queue, hbf_error *e) override {
        return of("queue") && fires() ? HBF_OK : below_->create_queue(desc, queue, e);
    }

private:
    bool of(std::string_view call) const { return settings().text("call") == call; }
};
HBF_FAULT(
    NothingGiven, "nothing-given", "a call says HBF_OK and gives no handle",
    {.key = "call", .kind = Parameter::word, .preset = "alloc", .line = "which", .choices = {"alloc", "create", "queue"}});

// An event is a region that was made.
class RegionFactsWrong final : public Fault {
public:
    using Fault::Fault;

    hbf_status alloc(const hbf_alloc_desc *desc, hbf_region_info *out, hbf_error *e) override {
        const hbf_status status = below_->alloc(desc, out, e);
        if (status != HBF_OK || !in_tier(out->tier) || !fires()) return status;
        if (settings().text("what") == "short") --out->size;
        if (settings().text("what") == "unmapped") out->address = nullptr;
        return status;
    }
};
HBF_FAULT(RegionFactsWrong, "region-facts-wrong", "a new region is other than alloc says", parameter::tier,
          {.key = "what",
           .kind = Parameter::word,
           .preset = "short",
           .line = "its size is one byte less than asked for; or it has no address",
           .choices = {"short", "unmapped"}});

// An event is an instance.
class TableWrong final : public Fault {
public:
    using Fault::Fault;

    void shape(Tables &tables) override {
        below_->shape(tables);
        if (!fires()) return;
        if (settings().text("what") == "missing") tables.has_queue = false;
        if (settings().text("what") == "short") tables.queue.struct_size = HBF_QUEUE_EXT_MIN_SIZE - 8;
    }
};
HBF_FAULT(TableWrong, "table-wrong", "the table of hbf.queue/1 is not as every instance has it",
          {.key = "what",
           .kind = Parameter::word,
           .preset = "missing",
           .line = "it is not there; or says that it is smaller than its minimum",
           .choices = {"missing", "short"}});

// An event is a poll.
class PollWrong final : public Fault {
public:
    using Fault::Fault;

    std::unique_ptr<QueueState> remember_queue() override { return std::make_unique<Waits>(); }
    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        bool waits = false;
        for (uint64_t i = 0; readable(queue, batch) && i < batch->command_count; ++i)
            waits |= command_at(*batch, i).kind == HBF_COMMAND_WAIT;
        const hbf_status status = below_->submit(queue, batch, out_value, e);
        if (status == HBF_OK && out_value && waits) state_of<Waits>(queue).last = *out_value;
        return status;
    }
    hbf_status poll(Queue &queue, hbf_progress *out) override {
        const hbf_status status = below_->poll(queue, out);
        if (status != HBF_OK || !usable(out, HBF_PROGRESS_MIN_SIZE) || !fires()) return status;
        const std::string &what = settings().text("what");
        if (what == "behind" && out->completed > 0) --out->completed;
        if (what == "none") out->completed = 0;
        if (what == "waiting") out->completed = std::max<uint64_t>(out->completed, state_of<Waits>(queue).last);
        if (what == "failed") out->failed = 1, out->status = HBF_INTERNAL;
        return status;
    }

private:
    struct Waits : QueueState {
        std::atomic<uint64_t> last{0}; // value whose batch waits for others
    };
};
HBF_FAULT(PollWrong, "poll-wrong", "poll does not tell what wait does",
          {.key = "what",
           .kind = Parameter::word,
           .preset = "behind",
           .line = "one value less has completed; none has; so has one that waits for another queue; the first one failed",
           .choices = {"behind", "none", "waiting", "failed"}});

// An event is a wait.
class WaitAtOnce final : public Fault {
public:
    using Fault::Fault;

    hbf_status wait(Queue &queue, uint64_t value, uint64_t timeout_ns, hbf_error *e) override {
        const hbf_status status = below_->wait(queue, value, fires() ? 0 : timeout_ns, e);
        return status == HBF_TIMEOUT ? HBF_OK : status;
    }
};
HBF_FAULT(WaitAtOnce, "wait-at-once", "a wait says at once that its value completed");

} // namespace
} // namespace hbf::inject
