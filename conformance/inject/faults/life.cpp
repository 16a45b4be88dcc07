// SPDX-License-Identifier: Apache-2.0
// What goes wrong over the life of instances: options, memory that runs out, what each call leaves behind, and instances
// that reach into each other.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "conformance/inject/calls.hpp"
#include "conformance/inject/touch.hpp"
#include "hbf/sdk/shell/guard.hpp"

namespace hbf::inject {
namespace {

void leave(const std::string &what) {
    if (what == "descriptor") (void)!open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (what == "mapping") (void)!mmap(nullptr, 2 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (what != "block") return;
    void *const block = std::malloc(48);
    asm volatile("" : : "r"(block) : "memory");
}

// An event is a call that succeeded.
class LeavesBehind final : public CallFault {
public:
    using CallFault::CallFault;
    void after(CallResult &call) override {
        if (call.status == HBF_OK && fires()) leave(settings().text("what"));
    }
};
HBF_FAULT(LeavesBehind, "leaves-behind", "each call leaves something that nobody gives back", parameter::call,
          {.key = "what",
           .kind = Parameter::word,
           .preset = "block",
           .line = "which",
           .choices = {"block", "descriptor", "mapping"}});

// What a tier forgets to count again, by the bytes of what was freed.
class FreedNotAvailable final : public Fault {
public:
    using Fault::Fault;
    hbf_status describe_tier(uint32_t tier, hbf_tier_info *out, hbf_error *e) override {
        const hbf_status status = below_->describe_tier(tier, out, e);
        if (status == HBF_OK && usable(out, HBF_TIER_INFO_MIN_SIZE))
            out->available -= std::min<uint64_t>(out->available, lost_.load());
        return status;
    }
    hbf_status free(hbf_region region, hbf_error *e) override {
        const auto info = device().regions().find(region);
        const hbf_status status = below_->free(region, e);
        if (status == HBF_OK && info && fires()) lost_ += info->size;
        return status;
    }

private:
    std::atomic<uint64_t> lost_{0};
};
HBF_FAULT(FreedNotAvailable, "freed-not-available", "the bytes of a freed region are never available again");

// An event is a call that ran out of memory.
class ExhaustionWrong final : public CallFault {
public:
    using CallFault::CallFault;
    hbf_status before(const CallResult &call) override {
        if (!stuck_) return HBF_OK;
        if (call.handle) *call.handle = 0;
        return sdk::shell::refuse(call.error, HBF_EXHAUSTED, "out of memory, as before");
    }
    void after(CallResult &call) override {
        if (call.status != HBF_EXHAUSTED || !fires()) return;
        const std::string &what = settings().text("what");
        leave(what);
        if (what == "for-good") stuck_ = true;
    }

private:
    std::atomic<bool> stuck_{false};
};
HBF_FAULT(ExhaustionWrong, "exhaustion-wrong", "a call that ran out of memory does not leave things as they were",
          parameter::call,
          {.key = "what",
           .kind = Parameter::word,
           .preset = "block",
           .line = "it leaves something; or it fails from then on",
           .choices = {"block", "descriptor", "for-good"}});

class OptionUnnamed final : public Fault {
public:
    using Fault::Fault;
    hbf_status create(const hbf_create_in *in, hbf_error *e) override {
        const hbf_status status = below_->create(in, e);
        if (status == HBF_INVALID && fires()) sdk::shell::write_error(e, "an option is wrong");
        return status;
    }
};
HBF_FAULT(OptionUnnamed, "option-unnamed", "an option that is refused is not named");

// What a global that all instances share does.
std::atomic<uint64_t> destroyed{0}, refused{0};

class InstancesShare final : public Fault {
public:
    using Fault::Fault;
    void started() override {
        Fault::started();
        born_ = destroyed.load();
    }
    hbf_status create(const hbf_create_in *in, hbf_error *e) override {
        const bool spoils = settings().text("what") == "refused-create";
        if (spoils && refused.load() > 0) return sdk::shell::refuse(e, HBF_BUSY, "an earlier create failed");
        const hbf_status status = below_->create(in, e);
        if (spoils && status != HBF_OK && fires()) ++refused;
        return status;
    }
    void destroy() override {
        below_->destroy();
        ++destroyed;
    }
    hbf_status poll(Queue &queue, hbf_progress *out) override {
        if (reached("bytes")) clear_regions();
        const hbf_status status = below_->poll(queue, out);
        if (status == HBF_OK && reached("work") && usable(out, HBF_PROGRESS_MIN_SIZE) && out->completed > 0)
            out->failed = out->completed, out->status = HBF_DEVICE_LOST;
        return status;
    }
    hbf_status alloc(const hbf_alloc_desc *desc, hbf_region_info *out, hbf_error *e) override {
        const hbf_status status = below_->alloc(desc, out, e);
        const std::lock_guard lock(mutex_);
        if (status == HBF_OK) seen_.push_back(out->region);
        return status;
    }

private:
    bool reached(const char *what) const { return settings().text("what") == what && destroyed.load() > born_; }
    void clear_regions() { // those that are freed by now are refused
        const std::lock_guard lock(mutex_);
        const std::byte zero[64] = {};
        for (const hbf_region region : seen_) device().touch().write(region, 0, zero);
        seen_.clear();
        born_ = destroyed.load(); // what comes later is spared until the next one goes
    }
    std::atomic<uint64_t> born_{0};
    std::mutex mutex_;
    std::vector<hbf_region> seen_;
};
HBF_FAULT(InstancesShare, "instances-share", "what becomes of one instance reaches another",
          {.key = "what",
           .kind = Parameter::word,
           .preset = "work",
           .line = "a destroy fails the other's work, or clears its bytes; a create that is refused is the last one",
           .choices = {"work", "bytes", "refused-create"}});

} // namespace
} // namespace hbf::inject
