// SPDX-License-Identifier: Apache-2.0
// A page size asked for is the one there is, or a refusal: a silent smaller page is a benchmark that measures something
// else.
#include <unistd.h>

#include "conformance/suite/dma/finding.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t size = 4 << 20;

struct Asked {
    hbf_pages pages;
    const char *name;
    uint64_t bytes; // 0: larger than the base page
};
constexpr Asked all[] = {{HBF_PAGES_4K, "4K", 4096},
                         {HBF_PAGES_THP, "transparent huge", 0},
                         {HBF_PAGES_2M, "2M", 2 << 20},
                         {HBF_PAGES_1G, "1G", 1 << 30}};

HBF_CASE("tier.alloc.pages_as_asked", {.rules = {"HBF-TIER-5"}, .kills = {"pages_ignored", "pages_refused_as_full"}}) {
    Instance &device = context.device();
    const auto base = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    for (uint32_t tier = 0; tier < device.tiers().size(); ++tier) {
        const char *name = device.tier(tier).name;
        for (const Asked &asked : all) {
            hbf_region_info region{};
            const Call call = device.alloc(tier, size, region, 0, {}, 0, asked.pages);
            if (!call.ok()) {
                context.check_status(call, HBF_UNAVAILABLE,
                                     fmt::format("{} pages in {}, which cannot be had", asked.name, name));
                continue;
            }
            static_cast<void>(device.free(region.region));
            check_in(context, asked.bytes ? region.page_size == asked.bytes : region.page_size > base, fault::contract, name,
                     "{} pages were asked for in {}, and a region of pages of {} bytes was given", asked.name, name,
                     region.page_size);
        }
    }
}

} // namespace
} // namespace hbf::conformance
