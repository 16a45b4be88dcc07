// SPDX-License-Identifier: Apache-2.0
#include "conformance/litmus/config.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace hbf::litmus {
namespace {

constexpr const char *meeting_names[] = {"each", "batch"}, *layout_names[] = {"same line", "adjacent lines", "apart"},
                     *preload_names[] = {"as it is", "hot", "flushed"};

} // namespace

Config draw_config(Random &random, unsigned agents, unsigned cpus, unsigned ranges) {
    constexpr uint32_t strides[] = {64, 128, 128, 4096, 65536};
    constexpr uint16_t delays[] = {0, 20, 100, 400, 1500};
    Config config;
    config.meeting = random.below(4) == 0 ? Meeting::batch : Meeting::each;
    config.layout = static_cast<Layout>(std::min<uint64_t>(2, random.below(5))); // mostly apart
    config.stride = strides[random.below(std::size(strides))];
    if (config.layout == Layout::adjacent_lines) config.stride = std::max(config.stride, 256u);
    config.shift = config.layout == Layout::same_line ? static_cast<uint32_t>(8 * random.below(6))
                                                      : static_cast<uint32_t>(8 * random.below(8));
    config.preload = static_cast<Preload>(random.below(3));
    config.most_delay = delays[random.below(std::size(delays))];
    config.pinned = random.below(8) != 0;
    config.first_cpu = static_cast<uint8_t>(random.below(std::min(cpus, 255u)));
    const unsigned spare = cpus > agents ? cpus - agents : 0;
    config.stressors = static_cast<uint8_t>(random.below(std::min(spare, 8u) + 1));
    for (uint8_t &range : config.range) range = static_cast<uint8_t>(random.below(std::max(1u, std::min(ranges, 255u))));
    config.seed = random();
    return config;
}

std::string to_string(const Config &config) {
    return fmt::format("{}, {}, stride {}+{}, {}, delay {}, {}, stress {}, range {} {} {}, seed {:#x}",
                       meeting_names[static_cast<int>(config.meeting)], layout_names[static_cast<int>(config.layout)],
                       config.stride, config.shift, preload_names[static_cast<int>(config.preload)], config.most_delay,
                       config.pinned ? fmt::format("pinned+{}", config.first_cpu) : "free", config.stressors,
                       config.range[0], config.range[1], config.range[2], config.seed);
}

uint32_t hash_of(const Config &config) {
    uint32_t hash = 2166136261u; // FNV-1a
    for (const char c : to_string(config)) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619u;
    return hash;
}

} // namespace hbf::litmus
