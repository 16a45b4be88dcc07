// SPDX-License-Identifier: Apache-2.0
// Scatter and gather: a batch as a list of pieces, in any order, as long as the plugin takes.
#include <algorithm>
#include <numeric>

#include "conformance/suite/dma/pair.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t pieces = 200, most_of_piece = 1500, slot = 2048;

std::vector<uint64_t> shuffled(uint64_t count, Random &random) {
    std::vector<uint64_t> out(count);
    std::iota(out.begin(), out.end(), 0);
    for (uint64_t i = count; i > 1; --i) std::swap(out[i - 1], out[random.below(i)]);
    return out;
}

// Pieces that lie end to end on one side have a place of their own with gaps on the other. Equal sizes in a row, so that
// pieces taken for each other fit.
HBF_CASE("dma.sg.order_and_gaps", {.rules = {"HBF-DMA-2"},
                                   .kills = {"m15_sg_order_wrong", "a100_batch_without_its_last", "a100_tail_rounded"},
                                   .needs = need::cpu_tier}) {
    Random random(context.seed());
    for (const Route &route : routes_from_cpu(context.device())) {
        Pair pair(context, route, pieces * slot, pieces * slot, pieces);
        for (const bool gather : {false, true}) {
            const std::vector<uint64_t> places = shuffled(pieces, random);
            std::vector<hbf_command> commands;
            uint64_t dense = 0;
            for (uint64_t i = 0; i < pieces; ++i) {
                const uint64_t size = 1 + i / 4 * 61 % most_of_piece, place = places[i] * slot + places[i] % 97;
                commands.push_back(gather ? pair.destination.copy_from(dense, pair.source, place, size)
                                          : pair.destination.copy_from(place, pair.source, dense, size));
                dense += size;
            }
            pair.run(context, commands, fmt::format("{}, {}", gather ? "gather" : "scatter", route.name()));
            pair.destination.load(context.seed(), 3);
        }
    }
}

// One piece of `step` bytes out of every `2 * step`.
std::vector<hbf_command> full_batch(Pair &pair, uint64_t count, uint64_t step) {
    std::vector<hbf_command> out;
    for (uint64_t i = 0; i < count; ++i)
        out.push_back(pair.destination.copy_from(2 * step * i + 1, pair.source, 2 * step * (count - 1 - i), step));
    return out;
}

HBF_CASE("dma.sg.max_entries_at_limit", {.rules = {"HBF-DMA-1", "HBF-DMA-2"},
                                         .kills = {"m51_sg_last_entry_dropped", "batch_cut_at_16", "one_command_too_many_ok",
                                                   "max_commands_overstated", "queue_over_limit_ok", "refused_as_internal"},
                                         .needs = need::cpu_tier}) {
    Instance &device = context.device();
    const uint32_t limit = device.queue_info().max_commands;
    constexpr uint64_t bound = 1 << 16; // commands; a higher limit is not reached here
    constexpr uint64_t step = 24;
    const auto largest = static_cast<uint32_t>(std::min<uint64_t>(limit, bound));
    if (limit > bound) context.note(fmt::format("max_commands is {}: batches of up to {} were tried", limit, bound));
    const Route route = routes_from_cpu(device).front();
    for (const uint32_t made_for : {1u, 2u, largest}) {
        if (made_for > limit) continue;
        Pair pair(context, route, 2 * step * (made_for + 1ull), 2 * step * (made_for + 1ull), made_for);
        pair.run(context, full_batch(pair, made_for, step), fmt::format("a batch of {} in a queue made for it", made_for));
        const auto more = std::vector<hbf_command>(made_for + 1ull, copy_command(pair.to.region, 0, pair.from.region, 0, 1));
        uint64_t value = 0;
        const Call call = device.submit(pair.queue, more, value);
        context.check_status(call, HBF_INVALID,
                             fmt::format("a batch of {} in a queue made for {}", made_for + 1ull, made_for));
        pair.run(context, {}, "after a batch that was one command too long");
    }
    if (limit == UINT32_MAX) return;
    hbf_queue *queue = nullptr;
    const Call call = device.create_queue(queue, 0, limit + 1);
    context.check_status(call, HBF_INVALID,
                         fmt::format("a queue for {} commands where max_commands is {}", limit + 1, limit));
}

} // namespace
} // namespace hbf::conformance
