// SPDX-License-Identifier: Apache-2.0
// Freeing that does not free, or frees what is in use.
#include <algorithm>
#include <mutex>
#include <set>
#include <vector>

#include "conformance/inject/commands.hpp"
#include "conformance/inject/fault.hpp"
#include "conformance/inject/launch.hpp"
#include "hbf/sdk/shell/guard.hpp"

namespace hbf::inject {
namespace {

using sdk::shell::refuse;

// Base: handles that the host shall not have any more, although the plugin still has them.
class LostHandles : public Fault {
public:
    using Fault::Fault;

    hbf_status free(hbf_region region, hbf_error *e) override {
        if (is_lost(region)) return refuse(e, HBF_INVALID, "no region has this handle");
        return free_known(region, e);
    }
    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        for (uint64_t i = 0; readable(queue, batch) && i < batch->command_count; ++i) {
            const hbf_command &command = command_at(*batch, i);
            const bool copy = command.kind == HBF_COMMAND_COPY && is_lost(command.u.copy.src);
            const bool range = (command.kind == HBF_COMMAND_FLUSH || command.kind == HBF_COMMAND_INVALIDATE) &&
                               is_lost(command.u.range.region);
            if (!copy && !range && !is_lost(destination(command).region) && !names_lost(command)) continue;
            if (out_value) *out_value = 0;
            return refuse(e, HBF_INVALID, "a command names no region that there is");
        }
        return below_->submit(queue, batch, out_value, e);
    }

protected:
    virtual hbf_status free_known(hbf_region region, hbf_error *e) = 0;
    void lose(hbf_region region) {
        std::lock_guard lock(mutex_);
        lost_.insert(region);
    }

private:
    bool is_lost(hbf_region region) {
        std::lock_guard lock(mutex_);
        return lost_.contains(region);
    }
    bool names_lost(const hbf_command &command) {
        if (command.kind != HBF_COMMAND_LAUNCH || !readable(command.u.launch)) return false;
        const hbf_launch &launch = command.u.launch;
        return std::any_of(launch.buffers, launch.buffers + launch.buffer_count,
                           [&](const hbf_kernel_buffer &buffer) { return is_lost(buffer.region); });
    }
    std::mutex mutex_;
    std::set<hbf_region> lost_;
};

class LeakOnFree final : public LostHandles {
public:
    using LostHandles::LostHandles;

    hbf_status free_known(hbf_region region, hbf_error *e) override {
        const auto known = device().regions().find(region);
        if (!known || !in_tier(known->tier) || !fires()) return below_->free(region, e);
        lose(region);
        return HBF_OK;
    }
};
HBF_FAULT(LeakOnFree, "leak", "a freed region stays allocated until the instance ends", parameter::tier);

class BusyFreeLoses final : public LostHandles {
public:
    using LostHandles::LostHandles;

    hbf_status free_known(hbf_region region, hbf_error *e) override {
        const hbf_status status = below_->free(region, e);
        if (status == HBF_BUSY && fires()) lose(region);
        return status;
    }
};
HBF_FAULT(BusyFreeLoses, "busy-free-loses-handle", "a free that says HBF_BUSY takes the handle away all the same");

// Frees it later, when the device lets go: so that nothing but the answer is wrong.
class FreeInFlight final : public Fault {
public:
    using Fault::Fault;

    hbf_status free(hbf_region region, hbf_error *e) override {
        catch_up();
        const hbf_status status = below_->free(region, e);
        if (status != HBF_BUSY || (settings().text("when") == "after-timeout" && !timed_out_) || !named(region) || !fires())
            return status;
        std::lock_guard lock(mutex_);
        later_.push_back(region);
        return HBF_OK;
    }
    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        for (uint64_t i = 0; of_launch_ && readable(queue, batch) && i < batch->command_count; ++i) {
            const hbf_command &command = command_at(*batch, i);
            if (command.kind != HBF_COMMAND_LAUNCH || !readable(command.u.launch)) continue;
            std::lock_guard lock(mutex_);
            for (uint64_t k = 0; k < command.u.launch.buffer_count; ++k)
                launched_.insert(command.u.launch.buffers[k].region);
        }
        return below_->submit(queue, batch, out_value, e);
    }
    hbf_status wait(Queue &queue, uint64_t value, uint64_t timeout_ns, hbf_error *e) override {
        const hbf_status status = below_->wait(queue, value, timeout_ns, e);
        if (status == HBF_TIMEOUT) timed_out_ = true;
        return status;
    }

private:
    void catch_up() {
        std::lock_guard lock(mutex_);
        std::erase_if(later_, [&](hbf_region region) { return below_->free(region, nullptr) != HBF_BUSY; });
    }
    bool named(hbf_region region) { // by what the fault is about
        std::lock_guard lock(mutex_);
        return !of_launch_ || launched_.contains(region);
    }
    const bool of_launch_ = settings().text("by") == "launch";
    std::set<hbf_region> launched_;
    std::atomic<bool> timed_out_{false};
    std::mutex mutex_;
    std::vector<hbf_region> later_;
};
HBF_FAULT(FreeInFlight, "free-in-flight-ok", "a region that a command in flight names can be freed",
          {.key = "when",
           .kind = Parameter::word,
           .preset = "always",
           .line = "or only once a wait has timed out",
           .choices = {"always", "after-timeout"}},
          {.key = "by",
           .kind = Parameter::word,
           .preset = "any",
           .line = "command that names it, or a launch",
           .choices = {"any", "launch"}});

} // namespace
} // namespace hbf::inject
