// SPDX-License-Identifier: Apache-2.0
#include "core/engine/placement/bands.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace hbf::kv::placement {

std::string_view to_string(Band band) noexcept {
    constexpr std::string_view names[] = {"hot", "settled", "warm", "cold"};
    return names[static_cast<uint8_t>(band)];
}

void Pressure::update(double device_memory_used, uint32_t sequences) noexcept {
    full_ = device_memory_used > (full_ ? rules_.full_until : rules_.full_above);
    crowded_ = sequences > (crowded_ ? rules_.crowded_until : rules_.crowded_above);
}

Thresholds Pressure::apply(const Thresholds &normal) const noexcept {
    Thresholds now = normal;
    if (full_) now.hbm = std::max(now.hbm, rules_.full_hbm);
    if (crowded_) now.hbm = std::max(now.hbm, rules_.crowded_hbm), now.hbf = std::min(now.hbf, rules_.crowded_hbf);
    return now;
}

std::string_view Pressure::mode() const noexcept {
    if (full_) return crowded_ ? "full and crowded" : "full";
    return crowded_ ? "crowded" : "normal";
}

Band band_of(double score, const Thresholds &thresholds) noexcept {
    if (score > thresholds.hbm) return Band::hot;
    if (score >= thresholds.hbf) return Band::settled;
    return score >= thresholds.cold ? Band::warm : Band::cold;
}

Tier tier_for(Tier now, Band band) noexcept {
    switch (band) {
    case Band::hot:
        return Tier::hbm;
    case Band::settled:
        return now;
    case Band::warm:
        return Tier::hbf;
    case Band::cold:
        break;
    }
    return Tier::cold;
}

std::optional<std::string> deadlock_in(const Thresholds &normal, const PressureRules &rules) {
    for (const auto &[name, value] : {std::pair{"hbm_threshold", normal.hbm},
                                      {"hbf_threshold", normal.hbf},
                                      {"cold_threshold", normal.cold},
                                      {"hbm_threshold under memory pressure", rules.full_hbm},
                                      {"hbm_threshold with many sequences", rules.crowded_hbm},
                                      {"hbf_threshold with many sequences", rules.crowded_hbf}}) {
        if (!std::isfinite(value) || value < 0)
            return fmt::format("{} = {}: expected a number from 0 to below 1", name, value);
        if (value >= 1)
            return fmt::format(
                "{} = {}: no block's score reaches 1, so nothing would ever come up again and what fell out of "
                "HBM would stay out; set it below 1 (0.95 is the default)",
                name, value);
    }
    const double least_hbf = std::min(normal.hbf, rules.crowded_hbf);
    if (normal.hbf >= normal.hbm)
        return fmt::format(
            "hbf_threshold = {} is not below hbm_threshold = {}: no score would let a block stay in HBM, and it "
            "would go to and fro for ever",
            normal.hbf, normal.hbm);
    if (normal.cold >= least_hbf)
        return fmt::format(
            "cold_threshold = {} is not below hbf_threshold = {}: no score would send a block to HBF, so what "
            "leaves HBM would have no place but cold",
            normal.cold, least_hbf);
    if (!(rules.full_until <= rules.full_above) || rules.crowded_until > rules.crowded_above)
        return fmt::format("a pressure mode that ends above where it begins ({} > {} or {} > {}) would never be left",
                           rules.full_until, rules.full_above, rules.crowded_until, rules.crowded_above);
    return std::nullopt;
}

} // namespace hbf::kv::placement
