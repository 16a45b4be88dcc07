// SPDX-License-Identifier: Apache-2.0
// Every offset modulo 256 at both ends, from every tier to those the CPU reaches.
#include "conformance/suite/dma/pair.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t turns = 256, slot = 1024;
constexpr uint32_t batch = 256;

// Both offsets of copy `i` take all 256 values in a round; from round to round they meet otherwise.
void every_offset(Context &context, const Route &route, uint64_t rounds) {
    Pair pair(context, route, turns * slot, turns * slot, batch);
    for (uint64_t round = 0; round < rounds; ++round) {
        pair.destination.load(context.seed(), static_cast<uint32_t>(2 + round));
        std::vector<hbf_command> commands;
        for (uint64_t i = 0; i < turns; ++i) {
            const uint64_t from_offset = i * slot + i, to_offset = i * slot + 64 + (i * 129 + round * 37) % turns;
            commands.push_back(pair.destination.copy_from(to_offset, pair.source, from_offset, 257 + (i + round) % 300));
        }
        pair.run(context, commands, fmt::format("{}, round {}", route.name(), round));
    }
}

HBF_CASE("dma.copy.d2h.every_offset_mod_256",
         {.rules = {"HBF-DMA-2"}, .kills = {"m13_offset_off_by_one"}, .needs = need::cpu_tier}) {
    for (const Route &route : routes_to_cpu(context.device())) every_offset(context, route, context.scaled(2, 256, 256));
}

} // namespace
} // namespace hbf::conformance
