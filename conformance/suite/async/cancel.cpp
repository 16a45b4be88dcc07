// SPDX-License-Identifier: Apache-2.0
// Cancel: what it took out never runs; what it was too late for arrives.
#include "conformance/suite/async/backlog.hpp"
#include "conformance/suite/async/expect.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t piece = 65536;
constexpr uint64_t slots = 8;

} // namespace

HBF_CASE("async.cancel.no_writes_after_ack",
         {.rules = {"HBF-QUEUE-8"},
          .kills = {"m28_cancel_still_writes", "cancel_poisons", "cancel_drops_busy", "late_cancel_as_internal"},
          .needs = need::cancel | need::cpu_tier}) {
    Instance &device = context.device();
    Regions regions(device);
    ByteAccess access(device);
    Backlog backlog(device, 0.01);
    const hbf_region_info src = regions.make(device.cpu_tier(), piece), dst = regions.make(device.cpu_tier(), slots * piece);
    const auto *bytes = static_cast<const std::byte *>(dst.address);
    Random random(context.seed());
    uint64_t in_time = 0, late = 0;
    const auto cancelled = [&](uint64_t value) {
        const Call call = device.cancel(backlog.queue(), value);
        if (!call.ok()) context.check_status(call, HBF_BUSY, "cancel of a value that runs or ran");
        return call.ok();
    };
    const uint64_t rounds = context.scaled(8, 150, 3000);
    for (uint32_t round = 1; round <= rounds; ++round) {
        const kernels::PatternKey key{static_cast<uint32_t>(context.seed()), round, false};
        write_pattern(access, src, 0, piece, key, 0);
        for (uint64_t slot = 0; slot < slots; ++slot) write_pattern(access, dst, slot * piece, piece, poison_of(key), 0);
        // Work, then a copy into each slot. Cancelled from the last one on, so that some are late.
        (void)backlog.add();
        std::vector<uint64_t> value(slots);
        for (uint64_t slot = 0; slot < slots; ++slot)
            value[slot] =
                device.must_submit(backlog.queue(), {copy_command(dst.region, slot * piece, src.region, 0, piece)});
        std::vector<bool> out(slots);
        for (uint64_t slot = slots; slot-- > 0;) {
            if (random.below(3) == 0) continue; // neighbours that go on
            out[slot] = cancelled(value[slot]);
            ++(out[slot] ? in_time : late);
            if (!out[slot]) continue;
            access.refresh(dst, slot * piece, piece);
            expect_pattern(context, device, dst, slot * piece, bytes + slot * piece, piece, poison_of(key), 0,
                           fault::contract, "a copy that was taken out, right after");
        }
        device.must_complete(backlog.queue(), value.back()); // in their turn, none as a failure
        // Too late: should it succeed, the bytes say that it did not.
        if (cancelled(value.back())) out.back() = true;
        for (uint64_t slot = 0; slot < slots; ++slot) {
            access.refresh(dst, slot * piece, piece);
            const std::byte *const at = bytes + slot * piece;
            if (out[slot])
                expect_pattern(context, device, dst, slot * piece, at, piece, poison_of(key), 0, fault::contract,
                               fmt::format("value {} was taken out by cancel, and wrote all the same", value[slot]));
            else
                expect_pattern(context, device, dst, slot * piece, at, piece, key, 0, fault::not_written,
                               fmt::format("value {} was not taken out, and did not write", value[slot]));
        }
    }
    context.metric({"async.cancel.in_time", "1", static_cast<double>(in_time)});
    context.metric({"async.cancel.late", "1", static_cast<double>(late)});
    if (in_time == 0) nothing_pending(context);
}

} // namespace hbf::conformance
