// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/bytes.hpp"
#include "conformance/suite/context.hpp"

namespace hbf::conformance {
namespace {

HBF_CASE("tier.alloc.zero_size_rejected", {.rules = {"HBF-TIER-4"}, .kills = {"m48_zero_size_ok", "register_zero_ok"}}) {
    Instance &device = context.device();
    for (uint32_t tier = 0; tier < device.tiers().size(); ++tier) {
        hbf_region_info region{};
        context.check_status(device.alloc(tier, 0, region), HBF_INVALID,
                             fmt::format("a region of 0 bytes in {}", device.tier(tier).name));
    }
    if (!(device.capabilities() & need::register_host)) return;
    alignas(4096) static std::byte memory[4096];
    hbf_region_info region{};
    context.check_status(device.register_host(memory, 0, region), HBF_INVALID, "0 bytes of registered memory");
}

} // namespace
} // namespace hbf::conformance
