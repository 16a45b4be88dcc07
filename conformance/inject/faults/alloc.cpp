// SPDX-License-Identifier: Apache-2.0
// Allocations that are granted where they must be refused, refused where they must be granted, or that harm others.
#include <bit>
#include <cstring>
#include <map>
#include <mutex>

#include "conformance/inject/commands.hpp"
#include "conformance/inject/fault.hpp"
#include "conformance/inject/touch.hpp"
#include "hbf/sdk/shell/guard.hpp"

namespace hbf::inject {
namespace {

// A request that may be looked into and changed.
class AllocFault : public Fault {
public:
    using Fault::Fault;

    hbf_status alloc(const hbf_alloc_desc *desc, hbf_region_info *out, hbf_error *e) override {
        if (!usable(desc, HBF_ALLOC_DESC_MIN_SIZE) || !usable(out, HBF_REGION_INFO_MIN_SIZE) || !in_tier(desc->tier))
            return below_->alloc(desc, out, e);
        hbf_alloc_desc changed = *desc;
        changed.struct_size = sizeof changed;
        return alloc_changed(*desc, changed, *out, e);
    }

protected:
    virtual hbf_status alloc_changed(const hbf_alloc_desc &asked, hbf_alloc_desc &desc, hbf_region_info &out,
                                     hbf_error *e) = 0;
};

class ZeroSizeOk final : public AllocFault {
public:
    using AllocFault::AllocFault;

    hbf_status alloc_changed(const hbf_alloc_desc &asked, hbf_alloc_desc &desc, hbf_region_info &out,
                             hbf_error *e) override {
        if (asked.size != 0 || settings().text("call") == "register" || !fires()) return below_->alloc(&asked, &out, e);
        desc.size = 1;
        const hbf_status status = below_->alloc(&desc, &out, e);
        if (status == HBF_OK) out.size = 0;
        return status;
    }
    hbf_status register_host(void *address, uint64_t size, hbf_region_info *out, hbf_error *e) override {
        const bool hit = size == 0 && usable(out, HBF_REGION_INFO_MIN_SIZE) && settings().text("call") != "alloc" && fires();
        const hbf_status status = below_->register_host(address, hit ? 1 : size, out, e);
        if (hit && status == HBF_OK) out->size = 0;
        return status;
    }
};
HBF_FAULT(
    ZeroSizeOk, "zero-size-ok", "a region of 0 bytes is made", parameter::tier,
    {.key = "call", .kind = Parameter::word, .preset = "alloc", .line = "which way", .choices = {"alloc", "register"}});

class OverCapacityOk final : public AllocFault {
public:
    using AllocFault::AllocFault;

    hbf_status alloc_changed(const hbf_alloc_desc &asked, hbf_alloc_desc &desc, hbf_region_info &out,
                             hbf_error *e) override {
        const hbf_status status = below_->alloc(&asked, &out, e);
        if (status != HBF_EXHAUSTED || asked.tier >= device().tiers().size() ||
            asked.size <= device().tiers()[asked.tier].capacity || !fires())
            return status;
        desc.size = 1;
        const hbf_status again = below_->alloc(&desc, &out, e);
        if (again == HBF_OK) out.size = asked.size;
        return again;
    }
};
HBF_FAULT(OverCapacityOk, "over-capacity-ok", "a region larger than its tier is made", parameter::tier);

class OddAlignmentOk final : public AllocFault {
public:
    using AllocFault::AllocFault;

    hbf_status alloc_changed(const hbf_alloc_desc &asked, hbf_alloc_desc &desc, hbf_region_info &out,
                             hbf_error *e) override {
        if (asked.alignment != 0 && !std::has_single_bit(asked.alignment) && fires()) desc.alignment = 0;
        return below_->alloc(desc.alignment == asked.alignment ? &asked : &desc, &out, e);
    }
};
HBF_FAULT(OddAlignmentOk, "odd-alignment-ok", "an alignment that is no power of two is taken for none", parameter::tier);

class PagesIgnored final : public AllocFault {
public:
    using AllocFault::AllocFault;

    hbf_status alloc_changed(const hbf_alloc_desc &asked, hbf_alloc_desc &desc, hbf_region_info &out,
                             hbf_error *e) override {
        const hbf_status status = below_->alloc(&asked, &out, e);
        if (status != HBF_UNAVAILABLE || asked.pages == HBF_PAGES_DEFAULT || !fires()) return status;
        desc.pages = HBF_PAGES_DEFAULT;
        return below_->alloc(&desc, &out, e);
    }
};
HBF_FAULT(PagesIgnored, "pages-ignored", "a page size that cannot be had becomes a smaller one, without a word",
          parameter::tier);

class FullLosesRegion final : public AllocFault {
public:
    using AllocFault::AllocFault;

    hbf_status alloc_changed(const hbf_alloc_desc &asked, hbf_alloc_desc &, hbf_region_info &out, hbf_error *e) override {
        const hbf_status status = below_->alloc(&asked, &out, e);
        std::lock_guard lock(mutex_);
        if (status == HBF_OK) last_[asked.tier] = out;
        const auto last = last_.find(asked.tier);
        if (status == HBF_EXHAUSTED && last != last_.end() && fires()) {
            const std::vector<std::byte> zeros(std::min<uint64_t>(last->second.size, 4096));
            device().touch().write(last->second.region, 0, zeros);
        }
        return status;
    }
    hbf_status free(hbf_region region, hbf_error *e) override {
        {
            std::lock_guard lock(mutex_);
            std::erase_if(last_, [&](const auto &one) { return one.second.region == region; });
        }
        return below_->free(region, e);
    }

private:
    std::mutex mutex_;
    std::map<uint32_t, hbf_region_info> last_; // made in each tier
};
HBF_FAULT(FullLosesRegion, "full-tier-loses-region", "a request that a full tier refuses clears a region that is there",
          parameter::tier);

// An event is a region that was freed.
class FreeClearsAnother final : public Fault {
public:
    using Fault::Fault;

    hbf_status alloc(const hbf_alloc_desc *desc, hbf_region_info *out, hbf_error *e) override {
        const hbf_status status = below_->alloc(desc, out, e);
        std::lock_guard lock(mutex_);
        if (status == HBF_OK) live_.push_back(out->region);
        return status;
    }
    hbf_status free(hbf_region region, hbf_error *e) override {
        std::lock_guard lock(mutex_);
        const hbf_status status = below_->free(region, e);
        if (status != HBF_OK) return status;
        std::erase(live_, region);
        static constexpr std::byte zeros[64] = {};
        if (!live_.empty() && fires()) device().touch().write(live_.front(), 0, std::span(zeros).first(4));
        return status;
    }

private:
    std::mutex mutex_;
    std::vector<hbf_region> live_; // in the order in which they were made
};
HBF_FAULT(FreeClearsAnother, "free-clears-another", "a free clears the first bytes of the region that is there longest");

// As much as was there, as far as it goes.
class OldBytesShown final : public AllocFault {
public:
    using AllocFault::AllocFault;

    hbf_status alloc_changed(const hbf_alloc_desc &asked, hbf_alloc_desc &, hbf_region_info &out, hbf_error *e) override {
        const hbf_status status = below_->alloc(&asked, &out, e);
        if (status != HBF_OK || asked.name.size != 0) return status;
        std::lock_guard lock(mutex_);
        const std::vector<std::byte> &old = old_[asked.tier];
        if (old.empty() || !fires()) return status;
        device().touch().write(out.region, 0, std::span(old).first(std::min<size_t>(old.size(), out.size)));
        return status;
    }
    hbf_status free(hbf_region region, hbf_error *e) override {
        const auto known = device().regions().find(region);
        std::optional<std::vector<std::byte>> bytes;
        if (known && known->size > 0) bytes = device().touch().read(region, 0, std::min<uint64_t>(known->size, 65536));
        const hbf_status status = below_->free(region, e);
        std::lock_guard lock(mutex_);
        if (status == HBF_OK && bytes) old_[known->tier] = std::move(*bytes);
        return status;
    }

private:
    std::mutex mutex_;
    std::map<uint32_t, std::vector<std::byte>> old_; // of the region freed last, by tier
};
HBF_FAULT(OldBytesShown, "fresh-region-shows-old-bytes", "a new region holds what one that was freed held", parameter::tier);

} // namespace
} // namespace hbf::inject
