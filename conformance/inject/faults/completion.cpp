// SPDX-License-Identifier: Apache-2.0
// Values whose completion is told wrong, while the device does its work.
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include "conformance/inject/commands.hpp"
#include "conformance/inject/fault.hpp"
#include "hbf/sdk/shell/guard.hpp"

namespace hbf::inject {
namespace {

using sdk::shell::refuse;

bool names_a_region(const hbf_batch &batch) {
    for (uint64_t i = 0; i < batch.command_count; ++i)
        if (is_data(command_at(batch, i))) return true;
    return false;
}

class NeverCompletes final : public Fault {
public:
    using Fault::Fault;

    std::unique_ptr<QueueState> remember_queue() override { return std::make_unique<State>(); }
    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        const bool hit = readable(queue, batch) && names_a_region(*batch) && out_value && fires();
        if (hit) keep_busy(*batch);
        const hbf_status status = below_->submit(queue, batch, out_value, e);
        uint64_t none = 0;
        if (hit && status == HBF_OK) stuck(queue).compare_exchange_strong(none, *out_value);
        return status;
    }
    hbf_status poll(Queue &queue, hbf_progress *out) override {
        const hbf_status status = below_->poll(queue, out);
        const uint64_t at = stuck(queue);
        if (status == HBF_OK && at != 0 && usable(out, HBF_PROGRESS_MIN_SIZE)) {
            out->completed = std::min(out->completed, at - 1);
            if (out->failed >= at) out->failed = 0, out->status = HBF_OK;
        }
        return status;
    }
    hbf_status wait(Queue &queue, uint64_t value, uint64_t timeout_ns, hbf_error *e) override {
        const uint64_t at = stuck(queue);
        if (at == 0 || value < at || value == UINT64_MAX) return below_->wait(queue, value, timeout_ns, e);
        const auto begin = std::chrono::steady_clock::now();
        while (timeout_ns == UINT64_MAX || std::chrono::steady_clock::now() - begin < std::chrono::nanoseconds(timeout_ns))
            std::this_thread::sleep_for(std::chrono::microseconds(200));
        return refuse(e, HBF_TIMEOUT, "the value has not completed in time");
    }
    hbf_status destroy_queue(Queue &queue, hbf_error *e) override {
        if (stuck(queue) != 0) return refuse(e, HBF_BUSY, "the queue has values in flight");
        return below_->destroy_queue(queue, e);
    }
    hbf_status free(hbf_region region, hbf_error *e) override {
        {
            std::lock_guard lock(mutex_);
            if (busy_.contains(region)) return refuse(e, HBF_BUSY, "the region is in use by a command in flight");
        }
        return below_->free(region, e);
    }

private:
    struct State : QueueState {
        std::atomic<uint64_t> stuck{0}; // from this value on nothing completes
    };
    std::atomic<uint64_t> &stuck(Queue &queue) { return state_of<State>(queue).stuck; }
    void keep_busy(const hbf_batch &batch) {
        std::lock_guard lock(mutex_);
        for (uint64_t i = 0; i < batch.command_count; ++i) {
            const hbf_command &command = command_at(batch, i);
            if (is_data(command)) busy_.insert(destination(command).region);
            if (command.kind == HBF_COMMAND_COPY) busy_.insert(command.u.copy.src);
        }
    }

    std::mutex mutex_;
    std::set<hbf_region> busy_;
};
HBF_FAULT(NeverCompletes, "never-completes", "a value with a copy or fill stays in flight for ever, and all after it");

class Twice final : public Fault {
public:
    using Fault::Fault;

    std::unique_ptr<QueueState> remember_queue() override { return std::make_unique<State>(); }
    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        const hbf_status status = below_->submit(queue, batch, out_value, e);
        uint64_t none = 0;
        if (status == HBF_OK && out_value && fires()) doubled(queue).compare_exchange_strong(none, *out_value);
        return status;
    }
    hbf_status poll(Queue &queue, hbf_progress *out) override {
        const hbf_status status = below_->poll(queue, out);
        const uint64_t at = doubled(queue);
        if (status == HBF_OK && at != 0 && usable(out, HBF_PROGRESS_MIN_SIZE) && out->completed >= at) ++out->completed;
        return status;
    }

private:
    struct State : QueueState {
        std::atomic<uint64_t> doubled{0};
    };
    std::atomic<uint64_t> &doubled(Queue &queue) { return state_of<State>(queue).doubled; }
};
HBF_FAULT(Twice, "twice", "a completion is counted twice: poll is one ahead from then on");

} // namespace
} // namespace hbf::inject
