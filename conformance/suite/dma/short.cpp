// SPDX-License-Identifier: Apache-2.0
// A transfer that came to less than was asked is never a success: the rest of the buffer holds old bytes that look like
// data.
#include "conformance/suite/dma/finding.hpp"
#include "conformance/suite/dma/pair.hpp"
#include "conformance/suite/tier/named.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t largest = (2 << 20) + 4097;

// Long enough that engines split them; each size ends otherwise.
void whole(Context &context, const Route &route) {
    Pair pair(context, route, largest, largest);
    for (const uint64_t size : {uint64_t{65535}, uint64_t{65536 + 512}, uint64_t{(1 << 20) + 1}, largest}) {
        pair.run(context, {pair.destination.copy_from(largest - size, pair.source, 0, size)},
                 fmt::format("a copy of {} bytes, {}", size, route.name()));
    }
}

HBF_CASE("dma.copy.short_transfer_is_data_loss",
         {.rules = {"HBF-DMA-4"}, .kills = {"short_read_ok"}, .needs = need::cpu_tier}) {
    for (const Route &route : routes_both(context.device())) whole(context, route);
}

// A region that is opened with more bytes than were stored: refused at once, or, at the latest, when they are read.
HBF_CASE("dma.copy.past_end_is_data_loss", {.rules = {"HBF-DMA-4"},
                                            .kills = {"opened_longer_than_stored", "end_refused_as_internal"},
                                            .needs = need::persistent | need::cpu_tier}) {
    Instance &device = context.device();
    const uint32_t tier = device.persistent_tier();
    const NamedRegion stored = store_named(context, device, tier, "hbf-conformance.end", 100000, 1);
    hbf_region_info longer{};
    const uint64_t more = stored.size + (1 << 20);
    const Call opened = device.alloc(tier, more, longer, 0, stored.name, HBF_ALLOC_OPEN_EXISTING);
    if (!opened.ok()) {
        context.check_status(
            opened, HBF_DATA_LOSS,
            fmt::format("{} opened with {} bytes, of which {} were stored", stored.name, more, stored.size));
        return;
    }
    Regions regions(device);
    const hbf_region_info buffer = regions.make(device.cpu_tier(), 4096);
    Queue queue(device);
    const uint64_t value = device.must_submit(queue, {copy_command(buffer.region, 0, longer.region, more - 4096, 4096)});
    static_cast<void>(device.wait(queue, value));
    const hbf_progress now = device.poll(queue);
    check_in(context, now.failed == value && now.status == HBF_DATA_LOSS, fault::swallowed, device.tier(tier).name,
             "{} was opened with {} bytes, of which {} were stored, and reading its end is {} instead of HBF_DATA_LOSS",
             stored.name, more, stored.size, now.failed ? status_name(now.status) : "a success");
    device.must_free(longer.region);
}

} // namespace
} // namespace hbf::conformance
