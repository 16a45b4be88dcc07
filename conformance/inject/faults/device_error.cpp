// SPDX-License-Identifier: Apache-2.0
// What a plugin may do: a command that fails, as the ABI says that one fails.
#include <atomic>
#include <mutex>
#include <string>

#include <fmt/format.h>

#include "conformance/inject/rewrite_fault.hpp"
#include "hbf/sdk/shell/guard.hpp"

namespace hbf::inject {
namespace {

struct Named {
    std::string_view name;
    hbf_status status;
};
constexpr Named statuses[] = {{"data-loss", HBF_DATA_LOSS}, {"exhausted", HBF_EXHAUSTED}, {"internal", HBF_INTERNAL}};

// The command does nothing, its value completes as failed, and so does every later one of the queue and every one, on any
// queue, that waited for one of these. Which values those are is known when they are submitted, for a wait names only values
// that are there.
class DeviceError final : public Fault {
public:
    explicit DeviceError(const Settings &settings) : Fault(settings) {
        for (const Named &named : statuses)
            if (named.name == settings.text("status")) status_ = named.status;
    }

    std::unique_ptr<QueueState> remember_queue() override { return std::make_unique<Timeline>(); }

    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        Timeline &mine = state_of<Timeline>(queue);
        if (!readable(queue, batch) || !out_value || mine.failed != 0) return count(mine, queue, batch, out_value, e);
        std::vector<hbf_command> commands;
        copy_commands(*batch, commands);
        bool fails = false;
        for (hbf_command &command : commands) {
            if (is_data(command) && in_tier(command) && fires()) {
                const Span place = destination(command);
                set(mine, fmt::format("injected: command {} failed on the device", &command - commands.data()), place);
                make_nothing(command);
                fails = true;
            } else if (command.kind == HBF_COMMAND_WAIT && command.u.wait.queue && !fails) {
                fails = inherits(mine, command.u.wait);
            }
        }
        if (!fails) return count(mine, queue, batch, out_value, e);
        mine.failed = mine.last + 1; // before the device can have completed it
        const hbf_batch changed = batch_of(commands);
        const hbf_status status = count(mine, queue, &changed, out_value, e);
        if (status != HBF_OK) mine.failed = 0;
        return status;
    }
    hbf_status poll(Queue &queue, hbf_progress *out) override {
        Timeline &mine = state_of<Timeline>(queue);
        const hbf_status status = below_->poll(queue, out);
        const uint64_t failed = mine.failed;
        if (status != HBF_OK || failed == 0 || !usable(out, HBF_PROGRESS_MIN_SIZE) || out->completed < failed) return status;
        if (out->failed == 0 || failed < out->failed) out->failed = failed, out->status = status_;
        return status;
    }
    hbf_status cancel(Queue &queue, uint64_t value, hbf_error *e) override {
        const uint64_t failed = state_of<Timeline>(queue).failed;
        if (failed != 0 && value == failed) return sdk::shell::refuse(e, HBF_BUSY, "the value runs already");
        return below_->cancel(queue, value, e);
    }
    hbf_status failure(Queue &queue, hbf_error *e) override {
        Timeline &mine = state_of<Timeline>(queue);
        hbf_progress now{};
        now.struct_size = sizeof now;
        if (mine.failed == 0 || poll(queue, &now) != HBF_OK || now.failed != mine.failed) return below_->failure(queue, e);
        std::lock_guard lock(mutex_);
        sdk::shell::write_error(e, mine.message, mine.place.region, mine.place.offset);
        return HBF_OK;
    }

private:
    struct Timeline : QueueState {
        std::atomic<uint64_t> failed{0}; // the first value to fail
        uint64_t last = 0;               // submitted, by the one thread that submits
        std::string message;
        Span place;
    };

    hbf_status count(Timeline &mine, Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) {
        const hbf_status status = below_->submit(queue, batch, out_value, e);
        if (status == HBF_OK && out_value) mine.last = *out_value;
        return status;
    }
    void set(Timeline &mine, std::string message, const Span &place) {
        std::lock_guard lock(mutex_);
        mine.message = std::move(message), mine.place = place;
    }
    bool inherits(Timeline &mine, const hbf_wait &wait) {
        Queue *waited = device().live_queue(wait.queue);
        if (!waited) return false;
        const Timeline &other = state_of<Timeline>(*waited);
        const uint64_t failed = other.failed;
        if (failed == 0 || wait.value < failed || &other == &mine) return false;
        std::lock_guard lock(mutex_);
        mine.message =
            fmt::format("waited for value {} of a queue where value {} failed: {}", wait.value, failed, other.message);
        mine.place = other.place;
        return true;
    }

    hbf_status status_ = HBF_DATA_LOSS;
    std::mutex mutex_; // messages and places
};
HBF_FAULT(DeviceError, "device-error", "legal: a copy or fill fails, its value says so, and all that depend on it fail too",
          parameter::tier,
          {.key = "status",
           .kind = Parameter::word,
           .preset = "data-loss",
           .line = "what poll says",
           .choices = {"data-loss", "exhausted", "internal"}});

} // namespace
} // namespace hbf::inject
