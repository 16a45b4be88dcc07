// SPDX-License-Identifier: Apache-2.0
// What a tier declares can be had: all of it where that is little, a bounded part of it where it is much.
#include "conformance/suite/dma/finding.hpp"
#include "conformance/suite/tier/small.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t parts = 16;

void fill_declared(Context &context, const Instance &device, uint32_t tier) {
    const hbf_tier_info info = device.describe(tier);
    check_in(context, info.available <= info.capacity, fault::contract, info.name,
             "{} has {} bytes available of a capacity of {}", info.name, info.available, info.capacity);
    hbf_region_info region{};
    if (info.capacity < UINT64_MAX - info.granule) {
        const Call call = device.alloc(tier, info.capacity + 1, region);
        if (call.ok()) static_cast<void>(device.free(region.region));
        context.check_status(call, HBF_EXHAUSTED,
                             fmt::format("one byte more than the capacity of {} ({})", info.name, info.capacity));
    }
    // What is available is a hint; one part of sixteen may be the tier's own.
    const uint64_t target = std::min(info.available, most_taken(context)), share = share_of(info, target, parts);
    if (target < info.available)
        context.note(fmt::format("{}: {} of {} bytes available were taken", info.name, target, info.available));
    std::vector<hbf_region> regions;
    for (uint64_t taken = 0; taken + share <= target - target / parts; taken += share) {
        must(device.alloc(tier, share, region), "{} declares {} bytes, {} of them available; {} more after {}", info.name,
             info.capacity, info.available, share, taken);
        regions.push_back(region.region);
    }
    for (const hbf_region made : regions) device.must_free(made);
}

HBF_CASE("tier.capacity.allocates_declared_minimum",
         {.rules = {"HBF-TIER-1", "HBF-TIER-4"},
          .kills = {"m19_capacity_overstated", "over_capacity_ok", "available_over_capacity"}}) {
    Instance &device = context.device();
    for (uint32_t tier = 0; tier < device.tiers().size(); ++tier) fill_declared(context, device, tier);
}

} // namespace
} // namespace hbf::conformance
