// SPDX-License-Identifier: Apache-2.0
// A launch that has not run yet: its regions are in use, and what it points to was copied.
#include "conformance/suite/async/backlog.hpp"
#include "conformance/suite/dma/finding.hpp"
#include "conformance/suite/dma/model.hpp"
#include "conformance/suite/kernels/copy_kernel.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t size = 64 << 10;
constexpr unsigned trials = 4;

// A launch behind work that lasts. The regions are its own: they are freed here.
struct Pending {
    Pending(Context &context, ByteAccess &access, uint32_t tier)
        : device(context.device()), name(device.tier(tier).name), from(device.must_alloc(tier, size)),
          to(device.must_alloc(tier, size)), source(access, from, "the source in " + name, name),
          destination(access, to, "the destination in " + name, name) {
        source.load(context.seed(), 1);
        destination.load(context.seed(), 2);
    }
    // Whether it was in time to find it in flight.
    bool expect_busy(Context &context, const Backlog &backlog, uint64_t value, const hbf_region_info &region,
                     std::string_view which) const {
        const Call freed = device.free(region.region);
        const bool pending = backlog.pending(value);
        check_in(context, !freed.ok() || !pending, fault::swallowed, name,
                 "{} of a launch in {} was freed while value {} was in flight", which, name, value);
        if (!freed.ok()) context.check_status(freed, HBF_BUSY, fmt::format("freeing {} of a launch in flight", which));
        return !freed.ok();
    }

    const Instance &device;
    const std::string name;
    const hbf_region_info from, to;
    Model source, destination;
};

HBF_CASE("kernels.free.in_flight_refused_or_waits",
         {.rules = {"HBF-KRN-6", "HBF-TIER-3"},
          .kills = {"launch_free_in_flight_ok", "busy_free_loses_handle", "busy_free_as_internal"},
          .needs = need::launch | need::cpu_tier,
          .limit_s = 60}) {
    Instance &device = context.device();
    const CopyKernel copy(context);
    ByteAccess access(device);
    Backlog backlog(device, 0.01);
    unsigned busy = 0;
    for (const uint32_t tier : kernel_tiers(device))
        for (unsigned trial = 0; trial < trials; ++trial) {
            Pending pending(context, access, tier);
            static_cast<void>(pending.destination.copy_from(0, pending.source, 0, size));
            (void)backlog.add();
            const uint64_t value = device.must_submit(
                backlog.queue(), {copy.launch(pending.to.region, 0, pending.from.region, 0, size).command()});
            // The one that was freed, having waited, is gone; the other is still to be seen.
            const hbf_region_info &first = trial % 2 ? pending.from : pending.to;
            const hbf_region_info &second = trial % 2 ? pending.to : pending.from;
            const bool first_stays =
                pending.expect_busy(context, backlog, value, first, trial % 2 ? "the source" : "the destination");
            const bool second_stays =
                pending.expect_busy(context, backlog, value, second, trial % 2 ? "the destination" : "the source");
            busy += first_stays && second_stays;
            device.must_complete(backlog.queue(), value);
            if (first_stays && second_stays) {
                pending.destination.verify(context, "a launch whose regions could not be freed");
                pending.source.verify(context, "a launch whose regions could not be freed");
            }
            if (first_stays) device.must_free(first.region);
            if (second_stays) device.must_free(second.region);
        }
    context.count_check();
    if (busy == 0 && !backlog.add_pending()) nothing_pending(context);
    if (busy == 0) context.inconclusive("no launch was still in flight when its regions were freed, or free waits");
}

HBF_CASE("kernels.launch.arguments_copied_by_submit", {.rules = {"HBF-KRN-6"},
                                                       .kills = {"launch_reads_arguments_late", "launch_reads_buffers_late"},
                                                       .needs = need::launch | need::cpu_tier,
                                                       .limit_s = 60}) {
    Instance &device = context.device();
    const CopyKernel copy(context);
    ByteAccess access(device);
    Backlog backlog(device, 0.01);
    for (const uint32_t tier : kernel_tiers(device)) {
        const std::string name = device.tier(tier).name;
        Buffers buffers(device);
        const hbf_region_info from = buffers.make(tier, size), to = buffers.make(tier, size),
                              other = buffers.make(tier, size);
        Model source(access, from, "the source in " + name, name),
            destination(access, to, "the destination in " + name, name),
            bystander(access, other, "a region in " + name + " that was named after submit", name);
        for (Model *const model : {&source, &destination, &bystander}) model->load(context.seed(), 1 + (model == &source));
        for (unsigned trial = 0; trial < trials; ++trial) {
            const uint64_t at = 1024 * trial, bytes = 4096;
            (void)backlog.add();
            Launch launch = copy.launch(to.region, at, from.region, 2 * at, bytes);
            std::vector<hbf_command> commands = {launch.command()};
            const uint64_t value = device.must_submit(backlog.queue(), commands);
            static_cast<void>(destination.copy_from(at, source, 2 * at, bytes));
            // Whoever looks at it only now finds another launch, as good as the first.
            const Launch next = copy.launch(other.region, 8, from.region, 16, 24);
            Launch spoilt = next;
            std::copy(spoilt.arguments().begin(), spoilt.arguments().end(), launch.arguments().begin());
            std::copy(spoilt.buffers().begin(), spoilt.buffers().end(), launch.buffers().begin());
            commands.front() = barrier_command();
            device.must_complete(backlog.queue(), value);
            const std::string when =
                fmt::format("a launch in {} whose arguments and buffers were changed after submit", name);
            destination.verify(context, when);
            bystander.verify(context, when);
            destination.forget_writes();
        }
    }
}

} // namespace
} // namespace hbf::conformance
