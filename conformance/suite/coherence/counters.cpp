// SPDX-License-Identifier: Apache-2.0
// A CPU counts at the edges of lines into whose middle the copy engine writes: no count is lost.
#include <array>

#include "conformance/litmus/crew.hpp"
#include "conformance/litmus/granule.hpp"
#include "conformance/suite/coherence/litmus_run.hpp"
#include "conformance/suite/threads.hpp"

namespace hbf::conformance {
namespace {

using namespace coherence;

constexpr uint64_t line = 64, lines = 64;

// A counter at the head and the tail of each line; the 48 bytes between are someone else's.
std::atomic_ref<uint64_t> counter(std::byte *memory, uint64_t number) {
    std::byte *const at = memory + number / 2 * line + (number % 2 ? line - 8 : 0);
    return std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t *>(at));
}

// Adds to the counters until told; true if one was ever found to be other than it was left.
bool count_up(std::byte *memory, const std::atomic<bool> &over, std::array<uint64_t, 3> &wrong) {
    std::array<uint64_t, 2 * lines> left{};
    for (uint64_t number = 0; number < left.size(); ++number) counter(memory, number).store(0, std::memory_order_relaxed);
    while (!over.load(std::memory_order_relaxed))
        for (uint64_t number = 0; number < left.size(); ++number) {
            const uint64_t found = counter(memory, number).load(std::memory_order_relaxed);
            if (found != left[number]) {
                wrong = {number, left[number], found};
                return true;
            }
            counter(memory, number).store(++left[number], std::memory_order_relaxed);
        }
    return false;
}

// The engine writes the middle of a line while a CPU counts at its edges.
void write_inside_lines(Context &context, const Instance &device, uint32_t tier, double seconds) {
    Regions regions(device);
    const hbf_region_info shared = regions.make(tier, line * lines, 4096),
                          source = regions.make(device.cpu_tier(), line * lines);
    const uint32_t most = batch_room(device, 32);
    Queue queue(device, 0, most);
    std::atomic<bool> over{false};
    std::array<uint64_t, 3> wrong{};
    bool lost = false;
    uint64_t copies = 0;
    run_threads(2, [&](unsigned thread) {
        if (thread == 1) {
            lost = count_up(at(shared, 0), over, wrong);
            over = true;
            return;
        }
        Random random(context.seed());
        const auto begin = measure::Clock::now();
        try {
            while (!over && elapsed(begin) < seconds) {
                std::vector<hbf_command> commands;
                do {
                    if (!commands.empty()) commands.push_back(barrier_command());
                    const uint64_t from = random.below(lines) * line + 8 + random.below(8),
                                   size = 1 + random.below(line - 16 - 8);
                    commands.push_back(copy_command(shared.region, from, source.region, from, size));
                    ++copies;
                } while (commands.size() + 2 <= most);
                device.must_run(queue, commands);
            }
        } catch (...) {
            over = true;
            throw;
        }
        over = true;
    });
    context.count_check();
    if (lost)
        fail_at(fault::lost_update, {&device, &shared, wrong[0] / 2 * line + (wrong[0] % 2 ? line - 8 : 0)},
                fmt::format("a CPU's counter beside a copy in the same line held {} where {} had been stored; {} copies",
                            wrong[2], wrong[1], copies));
    context.note(fmt::format("{}: {} copies beside counters in the same lines", device.tier(tier).name, copies));
}

// The same with someone who takes whole lines, and puts them back: what an engine without byte enables does.
Sightings whole_lines_are_seen(const Context &context, std::byte *memory) {
    Sightings control{"F3' (whole lines read and written back)"};
    litmus::Threads threads(2);
    const auto begin = measure::Clock::now();
    while (!control.enough() && elapsed(begin) < patience_s(context)) {
        std::atomic<bool> over{false};
        std::array<uint64_t, 3> wrong{};
        bool lost = false;
        threads.run(2, [&](unsigned thread) {
            if (thread == 0) {
                lost = count_up(memory, over, wrong);
                over = true;
                return;
            }
            alignas(64) std::array<std::byte, line * lines> kept;
            const auto start = measure::Clock::now();
            while (!over && elapsed(start) < 0.1) {
                litmus::copy_words(kept, {memory, kept.size()});
                litmus::copy_words({memory, kept.size()}, kept);
            }
            over = true;
        });
        control.count(lost);
    }
    return control;
}

} // namespace

HBF_CASE("coherence.false_sharing.counters_beside_copies_kept",
         {.rules = {"HBF-COH-3", "HBF-DMA-2"},
          .kills = {"whole_line_writes"},
          .needs = need::cpu_tier | need::coherence | need::hardware_domain,
          .budget_s = 0.2,
          .limit_s = 40}) {
    const Instance &device = context.device();
    need_agents(context, 2, "a CPU that counts beside a copy");
    const std::vector<uint32_t> tiers = mapped_tiers(device, HBF_PROTOCOL_HARDWARE);
    for (const uint32_t tier : tiers)
        write_inside_lines(context, device, tier, context.budget_s() / static_cast<double>(tiers.size()));
    Regions regions(device);
    const hbf_region_info memory = regions.make(tiers.front(), line * lines, 4096);
    require_seen(context, whole_lines_are_seen(context, at(memory, 0)));
}

} // namespace hbf::conformance
