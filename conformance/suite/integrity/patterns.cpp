// SPDX-License-Identifier: Apache-2.0
// A case a pattern, over every pair of tiers. What each is for: conformance/integrity/pattern.hpp.
#include "conformance/suite/integrity/pairs.hpp"

namespace hbf::conformance {
namespace {

using integrity::Pattern;
using integrity::Route;

uint64_t region_size(const Context &context) {
    return context.scaled(256u << 10, 16u << 20, 256u << 20);
}

} // namespace

HBF_CASE("integrity.pattern.address_hash", {.rules = {"HBF-DMA-2", "HBF-QUEUE-3"},
                                            .kills = {"m11_address_bit_ignored", "m26_stale_generation", "stale_page",
                                                      "copies_lost", "crc_of_last_piece_wrong"},
                                            .needs = need::cpu_tier,
                                            .limit_s = 60}) {
    // Three generations: data of an earlier one, its complement and data of another place are each told for what they are.
    every_pair(context, region_size(context),
               [&](Route &route) { run_pattern(route, Pattern::address_hash, data_seed(context), 3); });
}

HBF_CASE("integrity.pattern.own_address", {.rules = {"HBF-DMA-2"},
                                           .kills = {"m11_address_bit_ignored", "address_bit_14_ignored"},
                                           .needs = need::cpu_tier,
                                           .limit_s = 60}) {
    every_pair(context, region_size(context),
               [&](Route &route) { run_pattern(route, Pattern::own_address, data_seed(context)); });
}

HBF_CASE("integrity.pattern.solid_and_checkerboard", {.rules = {"HBF-DMA-2"},
                                                      .kills = {"stuck_at_0", "stuck_at_1", "a100_stuck_line"},
                                                      .needs = need::cpu_tier,
                                                      .limit_s = 60}) {
    every_pair(context, region_size(context) / 2, [&](Route &route) {
        run_pattern(route, Pattern::solid, data_seed(context));
        run_pattern(route, Pattern::checkerboard, data_seed(context));
    });
}

HBF_CASE("integrity.pattern.walking_ones_zeros",
         {.rules = {"HBF-DMA-2"}, .kills = {"stuck_at_0", "stuck_at_1"}, .needs = need::cpu_tier, .limit_s = 60}) {
    every_pair(context, region_size(context) / 2,
               [&](Route &route) { run_pattern(route, Pattern::walking, data_seed(context)); });
}

HBF_CASE("integrity.pattern.switching_lines",
         {.rules = {"HBF-DMA-2"}, .kills = {"stuck_at_0", "stuck_at_1"}, .needs = need::cpu_tier, .limit_s = 60}) {
    every_pair(context, region_size(context) / 2,
               [&](Route &route) { run_pattern(route, Pattern::switching, data_seed(context)); });
}

HBF_CASE("integrity.pattern.random_sequence",
         {.rules = {"HBF-DMA-2"}, .kills = {"address_bit_14_ignored"}, .needs = need::cpu_tier, .limit_s = 60}) {
    every_pair(context, region_size(context),
               [&](Route &route) { run_pattern(route, Pattern::random, data_seed(context)); });
}

HBF_CASE("integrity.pattern.moving_inversions", {.rules = {"HBF-DMA-2", "HBF-QUEUE-2"},
                                                 .kills = {"stuck_at_1", "copies_lost"},
                                                 .needs = need::cpu_tier,
                                                 .limit_s = 60}) {
    every_pair(context, region_size(context), [&](Route &route) { route.march(data_seed(context), 1); });
}

HBF_CASE("integrity.pattern.modulo_20",
         {.rules = {"HBF-DMA-2"}, .kills = {"line_after_a_copy_disturbed"}, .needs = need::cpu_tier, .limit_s = 60}) {
    const auto generations = static_cast<uint32_t>(context.scaled(1, 4, integrity::modulo));
    every_pair(context, region_size(context), [&](Route &route) {
        for (uint32_t generation = 1; generation <= generations; ++generation)
            for (uint32_t pass = 0; pass < 2; ++pass)
                route.every_twentieth({Pattern::modulo_20, pass, data_seed(context), generation});
    });
}

HBF_CASE("integrity.pattern.block_move",
         {.rules = {"HBF-DMA-2", "HBF-QUEUE-2"}, .kills = {"granule_misdirected"}, .needs = need::cpu_tier, .limit_s = 60}) {
    every_pair(context, 2 * region_size(context), [&](Route &route) { route.block_move(data_seed(context), 1, 5); });
}

} // namespace hbf::conformance
