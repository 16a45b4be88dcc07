// SPDX-License-Identifier: Apache-2.0
#include "conformance/litmus/arena.hpp"

#include <algorithm>
#include <bit>

namespace hbf::litmus {

Placement::Placement(const Arena &arena, const Config &config, uint32_t most_instances) : stride_(config.stride) {
    constexpr uint64_t line = 64;
    const uint64_t part = arena.ranges.front().size() / most_locations / line * line; // of each location
    const uint64_t room = config.layout == Layout::apart ? part : arena.ranges.front().size() / line * line;
    mask_ = static_cast<uint32_t>(std::bit_floor(std::clamp<uint64_t>(room / stride_, 1, most_instances)) - 1);
    Random random(config.seed);
    const auto factor = static_cast<uint32_t>(random() | 1), offset = static_cast<uint32_t>(random());
    for (unsigned location = 0; location < most_locations; ++location) {
        Place &place = places_[location];
        if (config.layout == Layout::apart) {
            place.base = arena.ranges[config.range[location]].data() + location * part + config.shift;
            place.factor = static_cast<uint32_t>(random() | 1);
            place.offset = static_cast<uint32_t>(random());
        } else { // words of one instance belong together, so they share its slot
            const uint64_t apart = config.layout == Layout::same_line ? sizeof(Word) : line;
            place.base = arena.ranges[config.range[0]].data() + config.shift + location * apart;
            place.factor = factor;
            place.offset = offset;
        }
    }
}

} // namespace hbf::litmus
