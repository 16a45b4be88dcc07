// SPDX-License-Identifier: Apache-2.0
// Freeing what the device still works on: busy and whole, or done once it is over; never pulled from under a copy.
#include "conformance/suite/async/backlog.hpp"
#include "conformance/suite/dma/finding.hpp"
#include "conformance/suite/dma/model.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t size = 4 << 20;
constexpr unsigned copies = 8, trials = 40, wanted = 3;

struct Trial {
    bool was_in_flight = false; // right after free had answered
    Call freed;
};

// One region is read or written by several long copies when it is freed.
Trial free_in_flight(Context &context, const Instance &device, hbf_queue *queue, const hbf_region_info &region,
                     const hbf_region_info &other, bool written) {
    uint64_t value = 0;
    for (unsigned i = 0; i < copies; ++i)
        value = device.must_submit(queue, {written ? copy_command(region.region, 0, other.region, 0, size)
                                                   : copy_command(other.region, 0, region.region, 0, size)});
    Trial out;
    out.freed = device.free(region.region);
    const hbf_progress now = device.poll(queue);
    out.was_in_flight = now.completed < value;
    if (out.freed.ok() && out.was_in_flight) {
        Evidence evidence;
        evidence.fault_class = fault::swallowed;
        evidence.tier = device.tier(region.tier).name;
        evidence.region = region.region;
        evidence.detail = fmt::format("a region of {} was freed while value {} that {} it was in flight; {} had completed",
                                      evidence.tier, value, written ? "writes" : "reads", now.completed);
        fail_with(std::move(evidence));
    }
    if (!out.freed.ok()) context.check_status(out.freed, HBF_BUSY, "freeing a region in flight");
    device.must_complete(queue, value);
    return out;
}

// Until it was seen often enough in flight; returns how often. A region that free refused must be there, whole, and go when
// it is idle.
unsigned with_tier(Context &context, uint32_t tier, bool written) {
    Instance &device = context.device();
    ByteAccess access(device);
    Regions regions(device);
    const Queue queue(device);
    const hbf_region_info other = regions.make(device.cpu_tier(), size);
    Model content(access, other, "the other region", device.tier(other.tier).name);
    content.load(context.seed(), 1);
    unsigned busy = 0;
    for (unsigned trial = 0; trial < trials && busy < wanted; ++trial) {
        const hbf_region_info region = device.must_alloc(tier, size);
        access.write(region, 0, content.bytes());
        const Trial result = free_in_flight(context, device, queue, region, other, written);
        context.count_check();
        if (result.freed.ok()) continue; // it waited, or all was over
        ++busy;
        const auto bytes = access.read(region, 0, size);
        context.count_check();
        if (bytes != content.bytes()) {
            Evidence evidence = difference(fault::wrong_value, device.tier(tier).name, region, 0, content.bytes(), bytes);
            evidence.detail =
                fmt::format("a region of {} that free left, being busy, does not hold its bytes any more", evidence.tier);
            fail_with(std::move(evidence));
        }
        device.must_free(region.region);
    }
    if (busy < wanted)
        context.note(
            fmt::format("{}: of {} times that a region was freed behind {} copies of {} bytes, {} were in time to find "
                        "them in flight",
                        device.tier(tier).name, trials, copies, size, busy));
    return busy;
}

HBF_CASE("tier.free.in_flight_refused_or_waits", {.rules = {"HBF-TIER-3"},
                                                  .kills = {"m29_free_while_in_flight_ok", "busy_free_loses_handle",
                                                            "busy_free_as_internal", "busy_free_clears_region"},
                                                  .needs = need::cpu_tier}) {
    unsigned busy = 0;
    for (const uint32_t tier : context.device().dma_tiers())
        for (const bool written : {true, false}) busy += with_tier(context, tier, written);
    if (busy == 0 && !Backlog(context.device(), 0.05).add_pending()) nothing_pending(context);
    if (busy == 0)
        context.inconclusive(
            "no copy was still in flight when its region was freed: this device is too fast for the case, or "
            "free waits");
}

} // namespace
} // namespace hbf::conformance
