// SPDX-License-Identifier: Apache-2.0
// Alignment at, below and above what a tier gives: kept to the byte, or refused; never approximated.
#include <bit>

#include "conformance/suite/bytes.hpp"
#include "conformance/suite/dma/finding.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t size = 5000;

void must_align(Context &context, const hbf_region_info &region, uint64_t alignment, const char *tier, uint64_t asked) {
    const auto address = reinterpret_cast<uintptr_t>(region.address);
    check_in(context, address % alignment == 0, fault::contract, tier,
             "a region of {} asked for with alignment {:#x} lies at {:#x}; {:#x} is due", tier, asked, address, alignment);
}

HBF_CASE("tier.alloc.alignment_at_limits",
         {.rules = {"HBF-TIER-5", "HBF-TIER-1"},
          .kills = {"m49_alignment_ignored", "odd_alignment_ok", "alignment_overstated", "odd_alignment_declared",
                    "large_alignment_ignored", "alignment_refused_as_internal", "first_region_unaligned"}}) {
    Instance &device = context.device();
    for (uint32_t tier = 0; tier < device.tiers().size(); ++tier) {
        const hbf_tier_info &info = device.tier(tier);
        check_in(context, std::has_single_bit(info.alignment), fault::contract, info.name,
                 "{} declares the alignment {}, no power of two", info.name, info.alignment);
        Regions regions(device);
        // Several of each, so that none is aligned by chance.
        for (unsigned i = 0; i < 4; ++i) must_align(context, regions.make(tier, size), info.alignment, info.name, 0);

        for (uint64_t alignment = 1; alignment <= info.alignment; alignment *= 2)
            must_align(context, regions.make(tier, size, alignment), info.alignment, info.name, alignment);
        for (const uint64_t odd : {info.alignment - 1, info.alignment + 1, 3 * info.alignment, UINT64_MAX}) {
            if (std::has_single_bit(odd) || odd == 0) continue;
            hbf_region_info region{};
            const Call call = device.alloc(tier, size, region, odd);
            if (call.ok()) static_cast<void>(device.free(region.region));
            context.check_status(call, HBF_INVALID, fmt::format("a region of {} with alignment {:#x}", info.name, odd));
        }
        // Up to where the tier says that it cannot, and beyond.
        for (uint64_t alignment = 2 * info.alignment; alignment; alignment *= 2) {
            for (unsigned i = 0; i < (device.cpu_access(tier) ? 2u : 1u); ++i) {
                hbf_region_info region{};
                const Call call = device.alloc(tier, size, region, alignment);
                if (!call.ok()) {
                    check_in(context, call.status == HBF_UNSUPPORTED || call.status == HBF_EXHAUSTED, fault::wrong_status,
                             info.name,
                             "a region of {} with alignment {:#x}: {} where HBF_UNSUPPORTED or HBF_EXHAUSTED is due",
                             info.name, alignment, to_string(call));
                    break;
                }
                const bool aligned = reinterpret_cast<uintptr_t>(region.address) % alignment == 0;
                const uintptr_t address = reinterpret_cast<uintptr_t>(region.address);
                static_cast<void>(device.free(region.region));
                check_in(context, aligned, fault::contract, info.name,
                         "a region of {} asked for with alignment {:#x} lies at {:#x}", info.name, alignment, address);
            }
        }
    }
}

} // namespace
} // namespace hbf::conformance
