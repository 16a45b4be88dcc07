// SPDX-License-Identifier: Apache-2.0
// A value that failed, told wrongly.
#include "conformance/inject/commands.hpp"
#include "conformance/inject/fault.hpp"

namespace hbf::inject {
namespace {

class FailedStatus final : public Fault {
public:
    using Fault::Fault;

    hbf_status poll(Queue &queue, hbf_progress *out) override {
        const hbf_status status = below_->poll(queue, out);
        if (status == HBF_OK && usable(out, HBF_PROGRESS_MIN_SIZE) && out->failed != 0 && fires())
            out->status = HBF_INTERNAL;
        return status;
    }
};
HBF_FAULT(FailedStatus, "failed-value-internal", "poll says of every failed value that it met a bug");

class FailureElsewhere final : public Fault {
public:
    using Fault::Fault;

    hbf_status failure(Queue &queue, hbf_error *e) override {
        const hbf_status status = below_->failure(queue, e);
        if (status == HBF_OK && usable(e, HBF_ERROR_MIN_SIZE) && HBF_HAS_FIELD(hbf_error, e, offset) && fires())
            e->region = 0, e->offset = HBF_NO_PLACE;
        return status;
    }
};
HBF_FAULT(FailureElsewhere, "failure-without-place", "what failed is told without region and offset");

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
