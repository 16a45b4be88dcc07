// SPDX-License-Identifier: Apache-2.0
// Migrations that are taken out again: the target is old or new, never a mix.
#include <array>

#include "conformance/suite/coherence/frames.hpp"

namespace hbf::conformance {
namespace {

using namespace coherence;

constexpr uint64_t owner = 3;

// A queue of migrations behind a large one, some taken out again.
void cancel_round(Context &context, const Instance &device, uint32_t tier, uint64_t round, uint64_t &taken, uint64_t &late) {
    constexpr uint64_t large = 4u << 20, granules = 8;
    Regions regions(device);
    ByteAccess access(device);
    std::vector<std::byte> bytes(granules * litmus::granule_size);
    const hbf_region_info big = regions.make(tier, large), other = regions.make(tier, large),
                          from = regions.make(tier, bytes.size()), to = regions.make(tier, bytes.size());
    const auto fill = [&](const hbf_region_info &region, uint64_t version) {
        for (uint64_t i = 0; i < granules; ++i)
            litmus::write_granule(std::span(bytes).subspan(i * litmus::granule_size, litmus::granule_size),
                                  {owner + i, version});
        access.write(region, 0, bytes);
    };
    fill(to, 2 * round + 1);
    fill(from, 2 * round + 2);
    Queue queue(device);
    Random random(context.seed() + round);
    device.must_submit(queue, {copy_command(other.region, 0, big.region, 0, large)});
    std::array<uint64_t, granules> values{};
    for (uint64_t i = 0; i < granules; ++i)
        values[i] = device.must_submit(queue, {copy_command(to.region, i * litmus::granule_size, from.region,
                                                            i * litmus::granule_size, litmus::granule_size)});
    std::array<bool, granules> out{};
    const auto cancelled = [&](uint64_t value) {
        const Call call = device.cancel(queue, value);
        if (!call.ok()) context.check_status(call, HBF_BUSY, "cancel of a migration");
        return call.ok();
    };
    for (uint64_t i = granules; i-- > 0;) { // from behind: there is most time for those
        if (random.below(3) == 0) continue;
        out[i] = cancelled(values[i]);
        (out[i] ? taken : late) += 1;
    }
    device.must_complete(queue, values[granules - 1]);
    if (cancelled(values[granules - 1])) out[granules - 1] = true; // too late: the bytes would say so
    access.read(to, 0, bytes);
    for (uint64_t i = 0; i < granules; ++i) {
        const Place place{&device, &to, i * litmus::granule_size};
        const auto granule = std::span(bytes).subspan(place.offset, litmus::granule_size);
        expect_whole(context, place, litmus::read_granule(granule), owner + i,
                     out[i] ? "the target of a cancelled migration" : "the target of a migration that was not cancelled",
                     2 * round + (out[i] ? 1 : 2));
    }
}

} // namespace

HBF_CASE("coherence.migration.cancel_old_or_new",
         {.rules = {"HBF-QUEUE-8"},
          .kills = {"m28_cancel_still_writes", "cancel_drops_busy", "last_line_lost", "late_cancel_as_internal"},
          .needs = need::cpu_tier | need::cancel}) {
    const Instance &device = context.device();
    for (const uint32_t tier : device.dma_tiers()) {
        uint64_t taken = 0, late = 0;
        const uint64_t rounds = context.scaled(6, 200, 5000);
        for (uint64_t round = 1; round <= rounds; ++round) cancel_round(context, device, tier, round, taken, late);
        context.note(fmt::format("{}: {} migrations taken out, {} too late", device.tier(tier).name, taken, late));
    }
}

} // namespace hbf::conformance
