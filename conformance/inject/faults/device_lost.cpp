// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include "conformance/inject/commands.hpp"
#include "conformance/inject/fault.hpp"
#include "hbf/sdk/shell/guard.hpp"

namespace hbf::inject {
namespace {

using sdk::shell::refuse;

// From one submit on: what is pending completes as failed, and only destroy is left.
class DeviceLost final : public Fault {
public:
    using Fault::Fault;

    std::unique_ptr<QueueState> remember_queue() override { return std::make_unique<State>(); }

    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        if (readable(queue, batch) && batch->command_count > 0 && !lost_ && fires()) lost_ = true;
        if (lost_) {
            if (out_value) *out_value = 0;
            return gone(e);
        }
        const hbf_status status = below_->submit(queue, batch, out_value, e);
        if (status == HBF_OK && out_value) state_of<State>(queue).last = *out_value;
        return status;
    }
    hbf_status poll(Queue &queue, hbf_progress *out) override {
        const hbf_status status = below_->poll(queue, out);
        if (!lost_ || status != HBF_OK || !usable(out, HBF_PROGRESS_MIN_SIZE)) return status;
        State &state = state_of<State>(queue);
        uint64_t none = 0;
        if (out->completed < state.last) state.failed.compare_exchange_strong(none, out->completed + 1);
        const uint64_t failed = state.failed;
        out->completed = std::max(out->completed, state.last.load());
        if (failed != 0 && (out->failed == 0 || failed < out->failed)) out->failed = failed, out->status = HBF_DEVICE_LOST;
        return status;
    }
    hbf_status wait(Queue &queue, uint64_t value, uint64_t timeout_ns, hbf_error *e) override {
        if (lost_ && value != 0 && value <= state_of<State>(queue).last) return HBF_OK;
        return below_->wait(queue, value, timeout_ns, e);
    }
    hbf_status failure(Queue &queue, hbf_error *e) override {
        if (state_of<State>(queue).failed == 0) return below_->failure(queue, e);
        gone(e);
        return HBF_OK;
    }
    hbf_status alloc(const hbf_alloc_desc *desc, hbf_region_info *out, hbf_error *e) override {
        if (!lost_) return below_->alloc(desc, out, e);
        if (usable(out, HBF_REGION_INFO_MIN_SIZE)) out->region = 0;
        return gone(e);
    }
    hbf_status free(hbf_region region, hbf_error *e) override { return lost_ ? gone(e) : below_->free(region, e); }
    hbf_status create_queue(const hbf_queue_desc *desc, Queue &queue, hbf_error *e) override {
        return lost_ ? gone(e) : below_->create_queue(desc, queue, e);
    }

private:
    struct State : QueueState {
        std::atomic<uint64_t> last{0}, failed{0};
    };
    static hbf_status gone(hbf_error *e) { return refuse(e, HBF_DEVICE_LOST, "injected: the device is gone"); }

    std::atomic<bool> lost_{false};
};
HBF_FAULT(DeviceLost, "device-lost", "legal: at a submit the device is gone, and what was pending has failed");

} // namespace
} // namespace hbf::inject
