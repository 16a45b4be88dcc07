// SPDX-License-Identifier: Apache-2.0
// The regions that are alive: which tier, how large, where. Faults look up here what a command names.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "hbf/abi/tier.h"

namespace hbf::inject {

// [any-thread]
class RegionBook {
public:
    void add(const hbf_region_info &region) {
        std::lock_guard lock(mutex_);
        regions_[region.region] = region;
    }
    std::optional<hbf_region_info> find(hbf_region region) const {
        std::lock_guard lock(mutex_);
        const auto found = regions_.find(region);
        return found == regions_.end() ? std::nullopt : std::optional(found->second);
    }
    // Taken out before it is freed: another thread may get the same handle the moment that it is.
    using Page = std::unordered_map<hbf_region, hbf_region_info>::node_type;
    Page take(hbf_region region) {
        std::lock_guard lock(mutex_);
        return regions_.extract(region);
    }
    void put_back(Page page) { // allocates nothing: there was room for it
        std::lock_guard lock(mutex_);
        regions_.insert(std::move(page));
    }

private:
    mutable std::mutex mutex_;
    std::unordered_map<hbf_region, hbf_region_info> regions_;
};

} // namespace hbf::inject
