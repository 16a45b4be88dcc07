// SPDX-License-Identifier: Apache-2.0
// What goes wrong only when two threads are in the plugin at once, or two instances in the process.
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "conformance/inject/rewrite_fault.hpp"
#include "hbf/sdk/shell/guard.hpp"

namespace hbf::inject {
namespace {

// A call that takes its time, so that another one can come meanwhile.
class Meeting {
public:
    explicit Meeting(std::atomic<int> &inside) : inside_(inside), met_(inside.fetch_add(1) > 0) {
        const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(30);
        while (!met_ && std::chrono::steady_clock::now() < until) {
            std::this_thread::yield();
            met_ = inside.load() > 1;
        }
    }
    ~Meeting() { inside_.fetch_sub(1); }
    Meeting(const Meeting &) = delete;
    Meeting &operator=(const Meeting &) = delete;
    bool met() const { return met_; }

private:
    std::atomic<int> &inside_;
    bool met_;
};

class NotThreadSafe final : public RewriteFault {
public:
    using RewriteFault::RewriteFault;

    bool rewrite(std::vector<hbf_command> &commands) override {
        const Meeting meeting(inside_);
        if (!meeting.met() || !fires()) return false;
        for (hbf_command &command : commands)
            if (is_data(command)) make_nothing(command); // the other one's took its place
        return true;
    }

private:
    static inline std::atomic<int> inside_{0}; // of all instances
};
HBF_FAULT(NotThreadSafe, "not-thread-safe", "of batches submitted at the same moment, to whatever queues, one is lost");

class AllocRace final : public Fault {
public:
    using Fault::Fault;

    hbf_status alloc(const hbf_alloc_desc *desc, hbf_region_info *out, hbf_error *e) override {
        const Meeting meeting(inside_);
        const hbf_status status = below_->alloc(desc, out, e);
        if (status != HBF_OK || !usable(out, HBF_REGION_INFO_MIN_SIZE)) return status;
        std::lock_guard lock(mutex_);
        if (meeting.met() && last_.region != 0 && last_.tier == out->tier && last_.size >= out->size && fires()) {
            out->region = last_.region;
            out->address = last_.address;
        }
        last_ = *out;
        return status;
    }
    hbf_status free(hbf_region region, hbf_error *e) override {
        {
            std::lock_guard lock(mutex_);
            if (last_.region == region) last_ = {};
        }
        return below_->free(region, e);
    }

private:
    std::atomic<int> inside_{0};
    std::mutex mutex_;
    hbf_region_info last_{};
};
HBF_FAULT(AllocRace, "alloc-race", "two allocations at the same moment get the same region");

// Kept in a global, and the first instance that ends takes it along.
class SharedState final : public Fault {
public:
    using Fault::Fault;

    void started() override {
        Fault::started();
        ended_before_ = ended().load();
    }
    hbf_status alloc(const hbf_alloc_desc *desc, hbf_region_info *out, hbf_error *e) override {
        if (ended().load() == ended_before_ || !fires()) return below_->alloc(desc, out, e);
        if (usable(out, HBF_REGION_INFO_MIN_SIZE)) out->region = 0;
        return sdk::shell::refuse(e, HBF_INTERNAL, "the allocator has been shut down");
    }
    void destroy() override {
        ended().fetch_add(1);
        below_->destroy();
    }

private:
    static std::atomic<uint64_t> &ended() {
        static std::atomic<uint64_t> count{0};
        return count;
    }
    uint64_t ended_before_ = 0;
};
HBF_FAULT(SharedState, "instances-share-state", "an instance that ends takes the allocator of all others along");

} // namespace
} // namespace hbf::inject
