// SPDX-License-Identifier: Apache-2.0
// Atomicity: sums of additions come out right between CPUs, and no 8-byte word is seen half written, neither between CPUs
// nor between CPU and copy engine, where the domain declares that width for them.
#include "conformance/litmus/atomicity.hpp"
#include "conformance/suite/async/expect.hpp"
#include "conformance/suite/coherence/litmus_run.hpp"
#include "conformance/suite/threads.hpp"

namespace hbf::conformance {
namespace {

using namespace coherence;
using litmus::Access;
using litmus::Tally;

constexpr uint64_t range_size = 65536;
constexpr double slice_s = 0.005;

using Run = Tally (*)(litmus::Threads &, std::span<std::byte>, Access, double, uint64_t);

Tally add_between_two(litmus::Threads &threads, std::span<std::byte> memory, Access access, double seconds, uint64_t seed) {
    return run_adding(threads, 2, memory, access, seconds, seed);
}

// Slices of the atomic form for the case's time, and of the split one until it went wrong often enough.
void run_between_cpus(Context &context, Run run, std::string_view fault_class, const char *what, const char *control) {
    const Instance &device = context.device();
    const std::vector<uint32_t> tiers = atomic_tiers(device, HBF_AGENT_CPU);
    if (tiers.empty()) context.not_supported("no coherent tier declares 8-byte atomics between CPUs");
    need_agents(context, 2, what);
    litmus::Threads threads(2);
    Random random(context.seed());
    for (const uint32_t tier : tiers) {
        Regions regions(device);
        const hbf_region_info region = regions.make(tier, range_size, 4096);
        const std::span<std::byte> memory(at(region, 0), range_size);
        Tally sound, split;
        Sightings sightings{control};
        const auto begin = measure::Clock::now();
        const auto spent = [&] { return elapsed(begin); };
        const double least = context.budget_s() / static_cast<double>(tiers.size());
        for (unsigned slice = 0; slice < 10 || spent() < least || (!sightings.enough() && spent() < patience_s(context));
             ++slice) {
            sound.add(run(threads, memory, Access::atomic, slice_s, random()));
            context.count_check();
            if (sound.bad != 0) {
                const Place place{&device, &region, sound.address - reinterpret_cast<uintptr_t>(region.address)};
                fail_at(fault_class, place,
                        fmt::format("{}: {} of {} went wrong; first: {:#x} where {:#x} is due", what, sound.bad,
                                    sound.trials, sound.actual, sound.expected));
            }
            if (!sightings.enough()) split.add(run(threads, memory, Access::split, slice_s, random()));
            sightings.seen = split.bad;
            sightings.tries = split.trials;
        }
        context.note(fmt::format("{}: 0 of {} {} went wrong", device.tier(tier).name, sound.trials, what));
        context.metric({.name = "litmus.instances", .unit = "1", .value = static_cast<double>(sound.trials)});
        require_seen(context, sightings);
    }
}

} // namespace

HBF_CASE("coherence.litmus.fetch_add_sum", {.rules = {"HBF-COH-1"},
                                            .kills = {"stale_writeback"},
                                            .needs = need::cpu_tier | need::coherence | need::atomics,
                                            .budget_s = 0.1,
                                            .limit_s = 40}) {
    run_between_cpus(context, add_between_two, fault::lost_update, "atomic additions", "atomicity' (load, then store)");
}

HBF_CASE("coherence.atomic.no_tearing_between_cpus", {.rules = {"HBF-COH-1"},
                                                      .kills = {"stale_writeback_halves"},
                                                      .needs = need::cpu_tier | need::coherence | need::atomics,
                                                      .budget_s = 0.1,
                                                      .limit_s = 40}) {
    run_between_cpus(context, litmus::run_tearing, fault::torn, "8-byte loads", "tearing' (a half at a time)");
}

} // namespace hbf::conformance
