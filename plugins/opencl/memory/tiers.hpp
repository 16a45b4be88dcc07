// SPDX-License-Identifier: Apache-2.0
// The memory tiers of a device, and the making of regions in them.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "hbf/sdk/instance.hpp"
#include "plugins/opencl/memory/region.hpp"
#include "plugins/opencl/options.hpp"

namespace hbf::opencl {

// Coherence domains, by index. `mapped` is there always, `shared` where there is fine-grained shared virtual memory.
inline constexpr uint32_t mapped_domain = 0, shared_domain = 1;

struct Tier {
    Sort sort;
    const char *name;
    hbf_tier_kind kind;
    hbf_media media;
    uint32_t domain, extended_by;
    uint64_t capacity, granule, alignment, most_alignment;
    std::string detail;
};

class Tiers {
public:
    Tiers(Context &context, const OpenClOptions &options);

    uint32_t count() const { return static_cast<uint32_t>(tiers_.size()); }
    bool shares_memory() const { return tiers_.back().sort == Sort::svm; }
    void describe(uint32_t tier, hbf_tier_info &out);
    void describe_domain(uint32_t domain, hbf_domain_info &out) const;

    std::unique_ptr<Region> make(const sdk::AllocRequest &request); // zeroed; throws
    void give_back(const Region &region);                           // its share of the tier

private:
    void fill(Region &region, const Tier &tier, uint64_t alignment);
    void zero(Region &region);

    Context &context_;
    std::vector<Tier> tiers_;
    std::mutex mutex_;
    std::vector<uint64_t> used_; // bytes of each tier
};

} // namespace hbf::opencl
