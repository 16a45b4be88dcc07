// SPDX-License-Identifier: Apache-2.0
// A value that failed, told wrongly.
#include <atomic>

#include "conformance/inject/commands.hpp"
#include "conformance/inject/fault.hpp"
#include "hbf/sdk/shell/guard.hpp"

namespace hbf::inject {
namespace {

class FailedStatus final : public Fault {
public:
    using Fault::Fault;

    hbf_status poll(Queue &queue, hbf_progress *out) override {
        const hbf_status status = below_->poll(queue, out);
        if (status == HBF_OK && usable(out, HBF_PROGRESS_MIN_SIZE) && out->failed != 0 && fires())
            out->status = settings().text("to") == "ok" ? HBF_OK : settings().text("to") == "unknown" ? 999 : HBF_INTERNAL;
        return status;
    }
};
HBF_FAULT(FailedStatus, "failed-value-internal", "poll says of every failed value that it met a bug, or worse",
          {.key = "to",
           .kind = Parameter::word,
           .preset = "internal",
           .line = "what it says: HBF_INTERNAL; HBF_OK; a status that there is not",
           .choices = {"internal", "ok", "unknown"}});

// Once the failure was asked for, the next value is named as the first that failed.
class FailedMoves final : public Fault {
public:
    using Fault::Fault;

    std::unique_ptr<QueueState> remember_queue() override { return std::make_unique<Asked>(); }
    hbf_status failure(Queue &queue, hbf_error *e) override {
        const hbf_status status = below_->failure(queue, e);
        if (status == HBF_OK && fires()) state_of<Asked>(queue).asked = true;
        return status;
    }
    hbf_status poll(Queue &queue, hbf_progress *out) override {
        const hbf_status status = below_->poll(queue, out);
        if (status == HBF_OK && usable(out, HBF_PROGRESS_MIN_SIZE) && out->failed != 0 && state_of<Asked>(queue).asked)
            ++out->failed;
        return status;
    }

private:
    struct Asked : QueueState {
        std::atomic<bool> asked{false};
    };
};
HBF_FAULT(FailedMoves, "failed-value-moves", "poll names another failed value once failure was asked for it");

class FailureElsewhere final : public Fault {
public:
    using Fault::Fault;

    hbf_status failure(Queue &queue, hbf_error *e) override {
        const hbf_status status = below_->failure(queue, e);
        if (status != HBF_OK || !usable(e, HBF_ERROR_MIN_SIZE) || !fires()) return status;
        const std::string &what = settings().text("what");
        if (what == "place" && HBF_HAS_FIELD(hbf_error, e, offset)) e->region = 0, e->offset = HBF_NO_PLACE;
        if (what == "message") sdk::shell::write_error(e, "");
        if (what == "changes") sdk::shell::write_error(e, ++told_ % 2 ? "it was this" : "it was that");
        return status;
    }

private:
    std::atomic<unsigned> told_{0};
};
HBF_FAULT(FailureElsewhere, "failure-without-place", "what failed is told without region and offset, or worse",
          {.key = "what",
           .kind = Parameter::word,
           .preset = "place",
           .line = "without its place; without a message; with another message each time",
           .choices = {"place", "message", "changes"}});

class WaitTellsFailure final : public Fault {
public:
    using Fault::Fault;

    hbf_status wait(Queue &queue, uint64_t value, uint64_t timeout_ns, hbf_error *e) override {
        const hbf_status status = below_->wait(queue, value, timeout_ns, e);
        hbf_progress progress{};
        progress.struct_size = sizeof progress;
        if (status != HBF_OK || below_->poll(queue, &progress) != HBF_OK) return status;
        return progress.failed != 0 && progress.failed <= value && fires() ? progress.status : status;
    }
};
HBF_FAULT(WaitTellsFailure, "wait-tells-failure", "a wait for a value that failed gives that failure as its own");

} // namespace
} // namespace hbf::inject
