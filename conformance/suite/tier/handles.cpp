// SPDX-License-Identifier: Apache-2.0
// A handle dies with its region and never comes to mean another one.
#include <functional>

#include "conformance/suite/dma/finding.hpp"
#include "conformance/suite/dma/model.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t size = 8192;

// Every way in which a handle can be used.
void must_be_refused(Context &context, const Instance &device, hbf_queue *queue, hbf_region handle, hbf_region good,
                     const std::string &what) {
    const std::pair<hbf_command, const char *> commands[] = {{copy_command(handle, 0, good, 0, 64), "a copy to"},
                                                             {copy_command(good, 0, handle, 0, 64), "a copy from"},
                                                             {fill_command(handle, 0, 64, 0x77, 1), "a fill of"},
                                                             {flush_command(handle, 0, 64), "a flush of"},
                                                             {invalidate_command(handle, 0, 64), "an invalidate of"}};
    for (const auto &[command, doing] : commands) {
        uint64_t value = 0;
        const Call call = device.submit(queue, {command}, value);
        if (call.ok()) device.must_complete(queue, value);
        context.check_status(call, HBF_INVALID, fmt::format("{} {} ({:#x})", doing, what, handle));
    }
    context.check_status(device.free(handle), HBF_INVALID, fmt::format("freeing {} ({:#x})", what, handle));
    if (!(device.capabilities() & need::export_import)) return;
    std::vector<std::byte> bytes(4096);
    uint64_t capacity = bytes.size();
    ErrorBuffer error;
    const Call call = error.call(device.tier_table().export_region(device.handle(), handle, bytes.data(), &capacity, error));
    context.check_status(call, HBF_INVALID, fmt::format("exporting {} ({:#x})", what, handle));
}

HBF_CASE("tier.handle.stale_after_free_rejected", {.rules = {"HBF-TIER-2", "HBF-TIER-3"},
                                                   .kills = {"m21_handle_reused_aba", "freed_handle_copies",
                                                             "freed_twice_ok", "handle_zero_ok", "declares_export"}}) {
    Instance &device = context.device();
    const Queue queue(device);
    ByteAccess access(device);
    for (const uint32_t tier : device.dma_tiers()) {
        Regions regions(device);
        const hbf_region_info good = regions.make(tier, size);
        const std::string name = device.tier(tier).name;
        must_be_refused(context, device, queue, 0, good.region, "the handle 0");
        must_be_refused(context, device, queue, UINT64_MAX, good.region, "a handle nobody gave out");
        must_be_refused(context, device, queue, good.region ^ (uint64_t{1} << 63), good.region,
                        "a handle with one bit changed");

        std::vector<hbf_region> stale;
        for (unsigned i = 0; i < 3; ++i) {
            const hbf_region_info region = device.must_alloc(tier, size);
            device.must_free(region.region);
            stale.push_back(region.region);
            must_be_refused(context, device, queue, region.region, good.region, "a freed region of " + name);
        }
        // Again once their slots are used: as many regions as were freed, and some.
        std::vector<Model> models;
        std::vector<hbf_region_info> fresh;
        for (unsigned i = 0; i < 8; ++i) fresh.push_back(regions.make(tier, size));
        for (const hbf_region_info &region : fresh) {
            models.emplace_back(access, region, name, name);
            models.back().load(context.seed(), static_cast<uint32_t>(models.size()));
        }
        for (const hbf_region handle : stale)
            must_be_refused(context, device, queue, handle, good.region,
                            "a freed region whose slot is used again, in " + name);
        for (Model &model : models) model.verify(context, "after a stale handle was used in every way");
    }
}

} // namespace
} // namespace hbf::conformance
