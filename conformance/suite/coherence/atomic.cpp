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

std::vector<uint32_t> atomic_tiers(const Instance &device, uint32_t agents) {
    std::vector<uint32_t> out = mapped_tiers(device, HBF_PROTOCOL_HARDWARE);
    std::erase_if(out, [&](uint32_t tier) {
        const hbf_domain_info &domain = *device.domain_of(tier);
        return !(domain.atomic_widths & 8u) || (domain.agents & agents) != agents;
    });
    return out;
}

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
        const auto spent = [&] { return measure::seconds_between(begin, measure::Clock::now()); };
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

// A word of which both halves are alike.
uint64_t doubled(uint32_t half) {
    return uint64_t{half} << 32 | half;
}

void expect_whole(Context &context, const Place &place, uint64_t word, const char *who) {
    context.count_check();
    if (static_cast<uint32_t>(word) == word >> 32) return;
    fail_at(fault::torn, place, fmt::format("{} saw the halves of two 8-byte stores in one word: {:#018x}", who, word));
}

constexpr uint64_t words = 64;

std::atomic_ref<uint64_t> word_of(const hbf_region_info &region, uint64_t number) {
    return std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t *>(at(region, 8 * number)));
}

// The engine copies words that a CPU stores; what arrives is whole.
void stores_against_copies(Context &context, const Instance &device, uint32_t tier, double seconds, uint64_t &trials) {
    Regions regions(device);
    const hbf_region_info source = regions.make(tier, words * 8, 64), target = regions.make(tier, words * 8, 64);
    for (uint64_t i = 0; i < words; ++i) word_of(source, i).store(0, std::memory_order_relaxed);
    Queue queue(device);
    std::atomic<bool> over{false};
    run_threads(2, [&](unsigned thread) {
        if (thread == 1) {
            for (uint32_t half = 0; !over.load(std::memory_order_relaxed); half += 0x9e3779b1u)
                for (uint64_t i = 0; i < words; ++i)
                    word_of(source, i).store(doubled(half + static_cast<uint32_t>(i)), std::memory_order_relaxed);
            return;
        }
        const auto begin = measure::Clock::now();
        try {
            while (measure::seconds_between(begin, measure::Clock::now()) < seconds) {
                device.must_run(queue, {copy_command(target.region, 0, source.region, 0, words * 8)});
                for (uint64_t i = 0; i < words; ++i)
                    expect_whole(context, {&device, &target, 8 * i}, word_of(target, i).load(std::memory_order_relaxed),
                                 "a copy of words that a CPU stores");
                trials += words;
            }
        } catch (...) {
            over = true;
            throw;
        }
        over = true;
    });
}

// A CPU loads words that the engine writes; what it sees is whole.
void loads_against_copies(Context &context, const Instance &device, uint32_t tier, double seconds, uint64_t &trials) {
    Regions regions(device);
    const hbf_region_info source = regions.make(tier, 2 * words * 8, 64), target = regions.make(tier, words * 8, 64);
    for (uint64_t i = 0; i < 2 * words; ++i)
        word_of(source, i).store(doubled(i < words ? 0x11111111u : 0xEEEEEEEEu), std::memory_order_relaxed);
    for (uint64_t i = 0; i < words; ++i) word_of(target, i).store(0, std::memory_order_relaxed);
    Queue queue(device);
    std::atomic<bool> over{false};
    run_threads(2, [&](unsigned thread) {
        if (thread == 1) {
            try {
                while (!over.load(std::memory_order_relaxed))
                    for (uint64_t i = 0; i < words; ++i) {
                        expect_whole(context, {&device, &target, 8 * i}, word_of(target, i).load(std::memory_order_relaxed),
                                     "a CPU's load beside a copy");
                        ++trials;
                    }
            } catch (...) {
                over = true;
                throw;
            }
            return;
        }
        const auto begin = measure::Clock::now();
        try {
            for (uint64_t round = 0; !over && measure::seconds_between(begin, measure::Clock::now()) < seconds; ++round)
                device.must_run(queue, {copy_command(target.region, 0, source.region, round % 2 * words * 8, words * 8)});
        } catch (...) {
            over = true;
            throw;
        }
        over = true;
    });
}

#if defined(__SANITIZE_THREAD__)
constexpr bool thread_sanitizer = true;
#elif defined(__has_feature)
constexpr bool thread_sanitizer = __has_feature(thread_sanitizer);
#else
constexpr bool thread_sanitizer = false;
#endif

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

HBF_CASE("coherence.atomic.no_tearing_64bit", {.rules = {"HBF-COH-1"},
                                               .kills = {"m25_atomic_torn", "atomic_torn_stays"},
                                               .needs = need::cpu_tier | need::coherence | need::atomics,
                                               .budget_s = 0.3,
                                               .limit_s = 40}) {
    const Instance &device = context.device();
    const std::vector<uint32_t> tiers = atomic_tiers(device, HBF_AGENT_CPU | HBF_AGENT_COPY_ENGINE);
    if (tiers.empty()) context.not_supported("no tier declares 8-byte atomics between CPU and copy engine");
    need_agents(context, 2, "a copy beside a CPU's accesses");
    // Its word is plain memory accesses of the plugin's: a race by the language, an access of a whole word by the machine.
    if (thread_sanitizer)
        context.not_observable("a thread sanitizer takes the plugin's copy for a race: needs another build");
    for (const uint32_t tier : tiers) {
        const double seconds = context.budget_s() / 2 / static_cast<double>(tiers.size());
        uint64_t copied = 0, loaded = 0;
        stores_against_copies(context, device, tier, seconds, copied);
        loads_against_copies(context, device, tier, seconds, loaded);
        context.note(fmt::format("{}: 0 of {} words copied and of {} words loaded were torn", device.tier(tier).name, copied,
                                 loaded));
    }
}

} // namespace hbf::conformance
