// SPDX-License-Identifier: Apache-2.0
// No 8-byte word is seen half written between CPU and copy engine, where the domain declares that width for them.
#include "conformance/suite/coherence/litmus_run.hpp"
#include "conformance/suite/threads.hpp"

namespace hbf::conformance {
namespace {

using namespace coherence;

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
            while (elapsed(begin) < seconds) {
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
            for (uint64_t round = 0; !over && elapsed(begin) < seconds; ++round)
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
