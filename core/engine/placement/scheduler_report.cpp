// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <fmt/format.h>

#include "core/engine/placement/scheduler.hpp"

namespace hbf::kv::placement {
namespace {

std::string level_line(std::string_view name, const HeatCache &level) {
    std::string text =
        fmt::format("{}: {} of {} blocks, {} ghosts, half-life {:.0f} requests ({})", name, level.size(), level.capacity(),
                    level.ghosts(), level.half_life(), level.adapts() ? "adapted" : "fixed");
    if (const Tuner *tuner = level.tuner()) {
        text += fmt::format("; shadows of one block in {}:", tuner->sample_rate());
        for (const auto &[candidate, served, chosen] : tuner->standings())
            text += fmt::format(" {}{}{:.0f}={:.0f}", chosen ? "*" : "", candidate.second_use ? "2nd-use/" : "",
                                candidate.half_life, served);
    }
    return text + "\n";
}

std::string heat_text(const HeatCache &level, BlockId id) {
    const auto facts = level.facts(id);
    if (facts.uses == 0) return "not used";
    const auto line = level.fill_line();
    return fmt::format("heat {:+.2f} octaves around now{}", octaves(level.heat(id) - level.now()),
                       line ? fmt::format(", {:+.2f} above what it takes to stay", octaves(level.heat(id) - *line))
                            : ", and there is room");
}

} // namespace

std::string Scheduler::explain(BlockId id) const {
    if (id >= config_.most_blocks)
        return fmt::format("block {}: no such number; they are below {}\n", id, config_.most_blocks);
    const auto now = pressure_.apply(config_.thresholds);
    const auto decision = decide(id);
    const auto facts = hbm_.facts(id);
    std::string text = fmt::format("block {}: in", id);
    for (const Tier tier : {Tier::hbm, Tier::hbf, Tier::cold}) {
        if (has(id, tier)) text += fmt::format(" {}", to_string(tier));
    }
    if (!has(id, Tier::hbm) && !has(id, Tier::hbf) && !has(id, Tier::cold))
        text += facts.ghost ? " no tier (a ghost)" : " no tier";
    text += fmt::format("; used {}{} times\n", facts.uses, facts.uses == 255 ? " or more" : "");
    text += fmt::format("  score {:.4f}: {} ({} mode: T_hbm {}, T_hbf {}, T_cold {})\n", decision.score,
                        to_string(decision.band), pressure_.mode(), now.hbm, now.hbf, now.cold);
    text += decision.to == decision.from ? fmt::format("  stays in {}\n", to_string(decision.from))
                                         : fmt::format("  belongs in {}\n", to_string(decision.to));
    text += fmt::format("  hbm: {}\n  hbf: {}\n", heat_text(hbm_, id), heat_text(hbf_, id));
    if (facts.relevance > 0) text += fmt::format("  relevance {:.2f} to the current query\n", facts.relevance / 255.0);
    if (facts.cost > 0)
        text += fmt::format("  {:.1f} times the cheapest byte to compute again\n", std::exp2(facts.cost / 8.0));
    if (const auto pin = pins_.find(id); pin != pins_.end()) text += fmt::format("  pinned until {}\n", pin->second);
    if (facts.children > 0) text += fmt::format("  {} blocks in hbm come after it and go first\n", facts.children);
    if (facts.parent != no_block) text += fmt::format("  comes after block {}\n", facts.parent);
    return text;
}

std::string Scheduler::dump() const {
    const auto now = pressure_.apply(config_.thresholds);
    std::string text = fmt::format("mode {}: T_hbm {}, T_hbf {}, T_cold {}; {} pinned; {} bytes of metadata\n",
                                   pressure_.mode(), now.hbm, now.hbf, now.cold, pins_.size(), metadata_bytes());
    text += level_line("hbm", hbm_) + level_line("hbf", hbf_);
    text += "block tiers score band target uses children parent pinned\n";
    for (BlockId id = 0; id < config_.most_blocks; ++id) {
        const auto facts = hbm_.facts(id);
        if (facts.uses == 0 && !has(id, Tier::hbf) && !has(id, Tier::hbm) && !has(id, Tier::cold)) continue;
        const auto decision = decide(id);
        const auto letter = [&](Tier tier, char name) { return has(id, tier) ? name : '-'; };
        text += fmt::format("{} {}{}{} {:.4f} {} {} {} {} {} {}\n", id, letter(Tier::hbm, 'm'), letter(Tier::hbf, 'f'),
                            letter(Tier::cold, 'c'), decision.score, to_string(decision.band), to_string(decision.to),
                            facts.uses, facts.children,
                            facts.parent == no_block ? std::string("-") : std::to_string(facts.parent), decision.pinned);
    }
    return text;
}

size_t Scheduler::metadata_bytes() const {
    return hbm_.bytes() + hbf_.bytes() + cold_copy_.size();
}

} // namespace hbf::kv::placement
