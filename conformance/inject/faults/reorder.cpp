// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <set>

#include "conformance/inject/held_fault.hpp"

namespace hbf::inject {
namespace {

// Two values of one queue run in each other's place. Both count as completed once both have: only the bytes tell.
class Reorder final : public HeldFault {
public:
    using HeldFault::HeldFault;

    hbf_status poll(Queue &queue, hbf_progress *out) override {
        release(queue); // no partner came
        const hbf_status status = below_->poll(queue, out);
        if (status == HBF_OK && usable(out, HBF_PROGRESS_MIN_SIZE) && is_first(queue, out->completed)) --out->completed;
        return status;
    }
    hbf_status wait(Queue &queue, uint64_t value, uint64_t timeout_ns, hbf_error *e) override {
        release(queue);
        return below_->wait(queue, is_first(queue, value) ? value + 1 : value, timeout_ns, e);
    }
    hbf_status cancel(Queue &queue, uint64_t value, hbf_error *e) override {
        release(queue);
        return below_->cancel(queue, value, e);
    }

protected:
    bool may_hold(const hbf_command &command) const override {
        const bool launch = settings().text("kind") == "launch";
        return launch ? command.kind == HBF_COMMAND_LAUNCH : HeldFault::may_hold(command);
    }
    hbf_status next(Queue &queue, State &state, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        uint64_t value = 0;
        const hbf_status status = below_->submit(queue, batch, &value, e); // takes the number that was told for the other
        if (status != HBF_OK) {
            if (out_value) *out_value = value;
            return status;
        }
        {
            Pairs &pairs = static_cast<Pairs &>(state);
            std::lock_guard lock(pairs.mutex);
            pairs.firsts.insert(value);
        }
        release_locked(queue, state);
        state.last = value + 1;
        if (out_value) *out_value = state.last;
        return HBF_OK;
    }

private:
    struct Pairs : State {
        std::mutex mutex;
        std::set<uint64_t> firsts; // lower values of those exchanged
    };
    std::unique_ptr<QueueState> remember_queue() override { return std::make_unique<Pairs>(); }
    bool is_first(Queue &queue, uint64_t value) {
        Pairs &pairs = static_cast<Pairs &>(state(queue));
        std::lock_guard lock(pairs.mutex);
        return pairs.firsts.contains(value);
    }
};
HBF_FAULT(Reorder, "reorder", "a batch and the next one on its queue run in each other's place", parameter::tier,
          {.key = "kind",
           .kind = Parameter::word,
           .preset = "data",
           .line = "the first is a batch of copies and fills, or of launches",
           .choices = {"data", "launch"}});

} // namespace
} // namespace hbf::inject
