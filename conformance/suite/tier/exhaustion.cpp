// SPDX-License-Identifier: Apache-2.0
// A full tier: the next region is refused, those that are there stay whole, and what is freed can be had again.
#include <algorithm>

#include "conformance/suite/dma/finding.hpp"
#include "conformance/suite/dma/model.hpp"
#include "conformance/suite/tier/small.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t parts = 8;

struct Full {
    std::vector<hbf_region_info> regions;
    Call refusal;
};

Full fill(Context &context, const Instance &device, uint32_t tier, uint64_t share) {
    Full out;
    const uint64_t most = device.tier(tier).capacity / share;
    for (;;) {
        hbf_region_info region{};
        out.refusal = device.alloc(tier, share, region);
        if (!out.refusal.ok()) return out;
        out.regions.push_back(region);
        check_in(context, out.regions.size() <= most, fault::contract, device.tier(tier).name,
                 "{} gave {} regions of {} bytes, more than its capacity of {}", device.tier(tier).name, out.regions.size(),
                 share, device.tier(tier).capacity);
    }
}

// False: others hold so much of it that it has no room for a region.
bool exhaust(Context &context, const Instance &device, uint32_t tier) {
    const hbf_tier_info &info = device.tier(tier);
    const uint64_t share = share_of(info, info.capacity, parts);
    const uint64_t available = device.describe(tier).available;
    Full full = fill(context, device, tier, share);
    const std::string what = fmt::format("region {} of {} bytes in {}", full.regions.size() + 1, share, info.name);
    context.check_status(full.refusal, HBF_EXHAUSTED, what);
    // One part may be the tier's own.
    const uint64_t due = std::min(info.capacity, available) / share;
    check_in(context, full.regions.size() + 1 >= due, fault::contract, info.name,
             "{} has {} bytes, {} of them available, and gives {} regions of {}", info.name, info.capacity, available,
             full.regions.size(), share);

    if (full.regions.empty()) return false;

    ByteAccess access(device);
    const bool dma = info.access & HBF_ACCESS_DMA;
    const auto tag = [&](const hbf_region_info &region, uint32_t generation) {
        Model model(access, region, info.name, info.name);
        model.load(context.seed() ^ region.region, generation);
        return model;
    };
    std::vector<Model> models;
    for (const hbf_region_info &region : full.regions)
        if (dma) models.push_back(tag(region, 1));

    // Refused while full, over and over; then one is freed, and one, and only one, can be had.
    for (unsigned round = 0; round < 3; ++round) {
        hbf_region_info region{};
        context.check_status(device.alloc(tier, share, region), HBF_EXHAUSTED, "while full, " + what);
        const size_t place = round * (full.regions.size() - 1) / 2;
        device.must_free(full.regions[place].region);
        must(device.alloc(tier, share, region), "a region of {} bytes was freed in {}; one as large again", share,
             info.name);
        full.regions[place] = region;
        if (dma) models[place].load(context.seed() ^ region.region, 2);
    }
    for (Model &model : models) model.verify(context, fmt::format("after {} was full", info.name));
    models.clear();
    const size_t had = full.regions.size();
    for (const hbf_region_info &region : full.regions) device.must_free(region.region);
    const Full second = fill(context, device, tier, share);
    check_in(context, second.regions.size() + 1 >= had, fault::leak, info.name,
             "{} gave {} regions of {} bytes, and after all were freed only {}", info.name, had, share,
             second.regions.size());
    for (const hbf_region_info &region : second.regions) device.must_free(region.region);
    return true;
}

HBF_CASE("tier.alloc.exhaustion_recovers",
         {.rules = {"HBF-TIER-4"},
          .kills = {"m19_capacity_overstated", "m20_leak_on_free", "leak_on_later_free", "wrong_status_when_full",
                    "full_tier_loses_region", "capacity_understated", "full_tier_changes_its_mind"},
          .needs = need::cpu_tier}) {
    context.subject().destroy_instance(); // so that only the small one holds memory
    const std::unique_ptr<Instance> made = small_instance(context.subject());
    const Instance &device = made ? *made : context.device();
    bool any = false;
    std::string left_out = "every tier is full already";
    for (uint32_t tier = 0; tier < device.tiers().size(); ++tier) {
        const hbf_tier_info info = device.describe(tier);
        if (info.capacity <= std::min(most_taken(context), info.available / 4 * 5)) {
            any |= exhaust(context, device, tier);
            continue;
        }
        left_out =
            fmt::format("{} was not filled: of its {} bytes {} are available, and at most {} are taken; give the plugin "
                        "an option that makes it small",
                        info.name, info.capacity, info.available, most_taken(context));
        context.note(left_out);
    }
    if (!any) context.not_observable(left_out);
}

} // namespace
} // namespace hbf::conformance
