// SPDX-License-Identifier: Apache-2.0
// Every length, from each tier the CPU reaches to every other: tails are where engines that move whole words, lines or pages
// go wrong.
#include <set>

#include "conformance/suite/dma/pair.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t longest = 4096, source_size = 64 << 10;
constexpr uint64_t line = 64; // a guard of at least this much lies between two copies
constexpr uint32_t batch = 256;

uint64_t slots_end() {
    uint64_t at = line;
    for (uint64_t length = 1; length <= longest; ++length) at += length + line + length % 7;
    return at;
}

// Where each short copy costs a read and a write of a medium, the first source tries every length and the others those at
// which something ends, unless there is time.
bool left_out(uint64_t length) {
    return length > 260 && (length + 2) % 64 > 4 && length % 61 != 0;
}

void every_length(Context &context, const Route &route, bool all) {
    Instance &device = context.device();
    Pair pair(context, route, source_size, slots_end(), batch);
    uint64_t value = 0;
    const Call empty = device.submit(pair.queue, {copy_command(pair.to.region, 0, pair.from.region, 0, 0)}, value);
    context.check_status(empty, HBF_INVALID, fmt::format("a copy of 0 bytes, {}", route.name()));

    std::vector<hbf_command> commands;
    uint64_t at = line;
    for (uint64_t length = 1; length <= longest; ++length) {
        if (!all && left_out(length)) continue;
        commands.push_back(pair.destination.copy_from(at, pair.source, length * 13 % (source_size - longest), length));
        at += length + line + length % 7; // so that starts meet every alignment
    }
    pair.run(context, commands, route.name());
}

HBF_CASE("dma.copy.h2d.every_length_0_to_4096", {.rules = {"HBF-DMA-2", "HBF-DMA-3"},
                                                 .kills = {"m02_drop_tail", "m03_tail_rounded_to_64", "zero_copy_ok"},
                                                 .needs = need::cpu_tier}) {
    Instance &device = context.device();
    std::set<uint32_t> tried; // destinations
    for (const Route &route : routes_from_cpu(device)) {
        const bool first = tried.insert(route.to).second;
        every_length(context, route, first || device.cpu_access(route.to) || context.profile() != Profile::quick);
    }
}

} // namespace
} // namespace hbf::conformance
