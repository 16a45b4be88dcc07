// SPDX-License-Identifier: Apache-2.0
// Named regions outlive the instance that stored them, whether it freed them or was only destroyed.
#include "conformance/suite/tier/named.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t size = 200000; // no whole number of granules

HBF_CASE("tier.persist.survives_reopen",
         {.rules = {"HBF-TIER-7", "HBF-LIFE-8"},
          .kills = {"m50_persist_lost_on_reopen", "persist_lost_on_destroy", "persist_keeps_first_bytes"},
          .needs = need::persistent | need::cpu_tier}) {
    const std::string name = "hbf-conformance.persist";
    const uint32_t tier = context.device().persistent_tier();
    const NamedRegion first = store_named(context, context.device(), tier, name, size, 1);
    must_find(context, made_again(context), tier, first, "after its instance freed it and was destroyed");

    const NamedRegion second = store_named(context, context.device(), tier, name, size, 2);
    must_find(context, context.device(), tier, second, "again by the instance that overwrote it");
    must_find(context, made_again(context), tier, second, "after it was overwritten and its instance destroyed");

    const hbf_region_info open = open_or_create(context.device(), tier, name, size);
    const NamedRegion third = write_named(context, context.device(), open, name, 3);
    must_find(context, made_again(context), tier, third, "after its instance was destroyed without freeing it");
}

} // namespace
} // namespace hbf::conformance
