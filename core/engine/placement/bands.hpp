// SPDX-License-Identifier: Apache-2.0
// From a block's score to the tier where it belongs. The score is heat on a scale from 0 to 1 that is calibrated by what the
// tiers hold: 0.95 is the heat that it takes to stay in HBM, 0.05 what it takes to stay in HBF (Scheduler::score).
//
//     score            in HBM     in HBF     cold
//     above T_hbm      stays      to HBM     to HBM
//     T_hbf .. T_hbm   stays      stays      stays
//     T_cold .. T_hbf  to HBF     stays      to HBF
//     below T_cold     to cold    to cold    stays
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/engine/types.hpp"

namespace hbf::kv::placement {

enum class Band : uint8_t { hot, settled, warm, cold };
std::string_view to_string(Band band) noexcept;

struct Thresholds {
    double hbm = 0.95, hbf = 0.3, cold = 0.05;
};

// When device memory is nearly full, or many sequences share it, fewer blocks are let in. A mode ends a little below where
// it begins, or it would flap.
struct PressureRules {
    double full_above = 0.85, full_until = 0.80; // of device memory
    double full_hbm = 0.98;
    uint32_t crowded_above = 50, crowded_until = 45; // concurrent sequences
    double crowded_hbm = 0.97, crowded_hbf = 0.25;
};

class Pressure {
public:
    explicit Pressure(const PressureRules &rules) : rules_(rules) {}
    void update(double device_memory_used, uint32_t sequences) noexcept;
    bool full() const noexcept { return full_; }
    bool crowded() const noexcept { return crowded_; }
    // What holds now: the stricter of each.
    Thresholds apply(const Thresholds &normal) const noexcept;
    std::string_view mode() const noexcept; // "normal", "full", "crowded", "full and crowded"

private:
    PressureRules rules_;
    bool full_ = false, crowded_ = false;
};

Band band_of(double score, const Thresholds &thresholds) noexcept;
Tier tier_for(Tier now, Band band) noexcept;

// Why these thresholds would leave the scheduler where nothing can move, or where blocks would go to and fro for ever; empty
// if they are sound.
std::optional<std::string> deadlock_in(const Thresholds &normal, const PressureRules &rules);

} // namespace hbf::kv::placement
