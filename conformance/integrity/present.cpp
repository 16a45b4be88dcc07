// SPDX-License-Identifier: Apache-2.0
#include "conformance/integrity/present.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace hbf::integrity {
namespace {

using conformance::Series;

Series bars(std::string name, std::string kind, std::string x, std::string y) {
    Series out;
    out.name = std::move(name);
    out.kind = std::move(kind);
    out.x_label = std::move(x);
    out.y_label = std::move(y);
    return out;
}

} // namespace

std::vector<Series> series_of(const Tally &tally) {
    const auto &lanes = tally.lanes;
    if (lanes.words() == 0) return {};
    auto up = bars("flips by bit lane, 0->1", "lanes", "bit of the 8-byte word", "flips"),
         down = bars("flips by bit lane, 1->0", "lanes", "bit of the 8-byte word", "flips");
    const auto busiest = lanes.busiest(64).lane;
    for (const auto &lane : lanes.lanes(64)) {
        const bool marked = lane.lane == busiest;
        up.points.push_back({.x = static_cast<double>(lane.lane), .y = static_cast<double>(lane.up), .marked = marked});
        down.points.push_back({.x = static_cast<double>(lane.lane), .y = static_cast<double>(lane.down), .marked = marked});
    }
    auto flips = bars("wrong bits in a word", "distribution", "bits flipped in 8 bytes", "words");
    for (size_t i = 1; i < lanes.flips_per_word().size(); ++i)
        flips.points.push_back({.x = static_cast<double>(i), .y = static_cast<double>(lanes.flips_per_word()[i])});
    auto places = bars("wrong words by place in the line", "distribution", "8-byte word of the 64-byte line", "words");
    for (size_t i = 0; i < lanes.words_in_line().size(); ++i)
        places.points.push_back({.x = static_cast<double>(i), .y = static_cast<double>(lanes.words_in_line()[i])});
    return {up, down, flips, places};
}

std::vector<conformance::Evidence> evidence_of(const Tally &tally, size_t most) {
    std::vector<conformance::Evidence> out;
    const bool lane = tally.stuck_lane();
    for (size_t i = 0; i < std::min(most, tally.records.size()); ++i) {
        out.push_back(evidence_of(tally.records[i]));
        if (lane && out.back().fault_class == conformance::fault::bit_flip)
            out.back().fault_class = conformance::fault::stuck_lane;
        if (i == 0) out.back().wrong_bytes = std::max(out.back().wrong_bytes, tally.wrong_bytes);
    }
    return out;
}

} // namespace hbf::integrity
