// SPDX-License-Identifier: Apache-2.0
// Handles that mean the wrong region: one that was freed, one that is another's, one that is none.
#include <deque>
#include <set>

#include "conformance/inject/translate_fault.hpp"
#include "hbf/sdk/shell/guard.hpp"

namespace hbf::inject {
namespace {

class HandleReused final : public TranslateFault {
public:
    using TranslateFault::TranslateFault;

    hbf_status alloc(const hbf_alloc_desc *desc, hbf_region_info *out, hbf_error *e) override {
        const hbf_status status = below_->alloc(desc, out, e);
        if (status != HBF_OK || !usable(out, HBF_REGION_INFO_MIN_SIZE)) return status;
        std::lock_guard lock(mutex_);
        if (old_.empty() || !fires()) return status;
        let_mean(old_.front(), {out->region, out->region, 0});
        out->region = old_.front();
        old_.pop_front();
        return status;
    }
    void freed(hbf_region region) override {
        std::lock_guard lock(mutex_);
        old_.push_back(region);
    }

private:
    std::mutex mutex_;
    std::deque<hbf_region> old_;
};
HBF_FAULT(HandleReused, "handle-reused", "a new region gets the handle of one that was freed before");

class SharedMemory final : public TranslateFault {
public:
    using TranslateFault::TranslateFault;

    hbf_status alloc(const hbf_alloc_desc *desc, hbf_region_info *out, hbf_error *e) override {
        const hbf_status status = below_->alloc(desc, out, e);
        if (status != HBF_OK || !usable(out, HBF_REGION_INFO_MIN_SIZE) || !in_tier(out->tier)) return status;
        std::lock_guard lock(mutex_);
        const hbf_region_info before = before_[out->tier];
        before_[out->tier] = *out;
        if (before.region == 0 || before.size < out->size || !fires()) return status;
        if (settings().text("what") == "mapping") {
            if (before.address) out->address = static_cast<std::byte *>(before.address) + before.size / 2;
        } else {
            let_mean(out->region, {out->region, before.region, 0});
        }
        before_[out->tier] = {};
        return status;
    }
    void freed(hbf_region region) override {
        std::lock_guard lock(mutex_);
        for (auto &[tier, info] : before_)
            if (info.region == region) info = {};
    }

private:
    std::mutex mutex_;
    std::map<uint32_t, hbf_region_info> before_;
};
HBF_FAULT(SharedMemory, "regions-share-memory",
          "a new region has the bytes of the one before it in its tier, if it fits there", parameter::tier,
          {.key = "what",
           .kind = Parameter::word,
           .preset = "bytes",
           .line = "for commands, or for the CPU",
           .choices = {"bytes", "mapping"}});

class AlignmentIgnored final : public TranslateFault {
public:
    using TranslateFault::TranslateFault;

    hbf_status alloc(const hbf_alloc_desc *desc, hbf_region_info *out, hbf_error *e) override {
        const uint64_t shift = settings().number("bytes");
        const bool hit = usable(desc, HBF_ALLOC_DESC_MIN_SIZE) && usable(out, HBF_REGION_INFO_MIN_SIZE) && desc->size > 0 &&
                         desc->size < UINT64_MAX - shift && desc->name.size == 0 && in_tier(desc->tier) &&
                         desc->alignment >= settings().number("from") && fires();
        if (!hit) return below_->alloc(desc, out, e);
        hbf_alloc_desc larger = *desc;
        larger.struct_size = sizeof larger;
        larger.size += shift;
        const hbf_status status = below_->alloc(&larger, out, e);
        if (status != HBF_OK) return status;
        let_mean(out->region, {out->region, out->region, shift});
        if (out->address) out->address = static_cast<std::byte *>(out->address) + shift;
        out->size = desc->size;
        return status;
    }
};
HBF_FAULT(AlignmentIgnored, "alignment-ignored", "a region does not start where its alignment says", parameter::tier,
          {.key = "bytes", .preset = "8", .line = "how far off"},
          {.key = "from", .preset = "0", .line = "only if at least this alignment is asked for"});

// Handles that are none, and yet are taken.
class DeadHandles final : public RewriteFault {
public:
    using RewriteFault::RewriteFault;

    hbf_status free(hbf_region region, hbf_error *e) override {
        const std::string &what = settings().text("what");
        std::lock_guard lock(mutex_);
        if (what == "free-twice" && dead_.contains(region) && fires()) return HBF_OK;
        if (what == "zero" && region == 0 && fires()) return HBF_OK;
        const hbf_status status = below_->free(region, e);
        if (status == HBF_OK) dead_.insert(region);
        return status;
    }
    bool rewrite(std::vector<hbf_command> &commands) override {
        const std::string &what = settings().text("what");
        std::lock_guard lock(mutex_);
        const auto taken = [&](hbf_region region) {
            return (what == "copy" && dead_.contains(region)) || (what == "zero" && region == 0);
        };
        bool changed = false;
        for (hbf_command &command : commands) {
            const bool copy = command.kind == HBF_COMMAND_COPY && (taken(command.u.copy.dst) || taken(command.u.copy.src));
            const bool fill = command.kind == HBF_COMMAND_FILL && taken(command.u.fill.dst);
            const bool range = (command.kind == HBF_COMMAND_FLUSH || command.kind == HBF_COMMAND_INVALIDATE) &&
                               taken(command.u.range.region);
            if (!(copy || fill || range) || !fires()) continue;
            make_nothing(command);
            changed = true;
        }
        return changed;
    }

private:
    std::mutex mutex_;
    std::set<hbf_region> dead_;
};
HBF_FAULT(DeadHandles, "dead-handle-ok", "a handle that is none is taken",
          {.key = "what",
           .kind = Parameter::word,
           .preset = "copy",
           .line = "commands on a freed region; freeing it again; the handle 0",
           .choices = {"copy", "free-twice", "zero"}});

} // namespace
} // namespace hbf::inject
