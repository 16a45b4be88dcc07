// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <fmt/format.h>

#include "core/engine/placement/scheduler.hpp"

namespace hbf::kv::placement {
namespace {

std::string shadows(const Tuner *tuner) {
    if (tuner == nullptr) return "";
    std::string text = fmt::format("; shadows of one block in {}:", tuner->sample_rate());
    for (const auto &[candidate, served, chosen] : tuner->standings())
        text += fmt::format(" {}{}{:.0f}={:.0f}", chosen ? "*" : "", candidate.second_use ? "2nd-use/" : "",
                            candidate.half_life, served);
    return text;
}

} // namespace

std::string Scheduler::heat_text(Tier tier, BlockId id) const {
    const auto least = line(tier);
    return least ? fmt::format("{:+.2f} octaves above what it takes to stay", octaves(heat(id) - *least))
                 : std::string("there is room");
}

std::string Scheduler::explain(BlockId id) const {
    if (id >= config_.most_blocks)
        return fmt::format("block {}: no such number; they are below {}\n", id, config_.most_blocks);
    const auto now = thresholds();
    const auto decision = decide(id);
    const auto facts = this->facts(id);
    std::string text = fmt::format("block {}: in", id);
    for (const Tier tier : {Tier::hbm, Tier::hbf, Tier::cold}) {
        if (has(id, tier)) text += fmt::format(" {}", to_string(tier));
    }
    if (tiers_of(flags(id)) == 0) text += facts.ghost ? " no tier (a ghost)" : " no tier";
    text += fmt::format("; used {}{} times\n", facts.uses, facts.uses == 255 ? " or more" : "");
    text += fmt::format("  score {:.4f}: {} ({} mode: T_hbm {}, T_hbf {}, T_cold {})\n", decision.score,
                        to_string(decision.band), pressure_.mode(), now.hbm, now.hbf, now.cold);
    text += decision.to == decision.from ? fmt::format("  stays in {}\n", to_string(decision.from))
                                         : fmt::format("  belongs in {}\n", to_string(decision.to));
    if (facts.uses > 0)
        text += fmt::format("  heat {:+.2f} octaves around now\n  hbm: {}\n", octaves(heat(id) - now_),
                            heat_text(Tier::hbm, id));
    if (facts.uses > 0 && config_.hbf_tier) text += fmt::format("  hbf: {}\n", heat_text(Tier::hbf, id));
    if (facts.relevance > 0) text += fmt::format("  relevance {:.2f} to the current query\n", facts.relevance / 255.0);
    if (facts.cost > 0)
        text += fmt::format("  {:.1f} times the cheapest byte to compute again\n", std::exp2(facts.cost / 8.0));
    if (const auto pin = pins_.find(id); pin != pins_.end()) text += fmt::format("  pinned until {}\n", pin->second);
    if (facts.children_hbm > 0) text += fmt::format("  {} blocks in hbm come after it and go first\n", facts.children_hbm);
    if (facts.children_hbf > 0) text += fmt::format("  {} blocks in hbf come after it\n", facts.children_hbf);
    if (facts.parent != no_block) text += fmt::format("  comes after block {}\n", facts.parent);
    return text;
}

std::string Scheduler::dump() const {
    const auto now = thresholds();
    std::string text = fmt::format("mode {}: T_hbm {}, T_hbf {}, T_cold {}; {} pinned; {} bytes of metadata\n",
                                   pressure_.mode(), now.hbm, now.hbf, now.cold, pins_.size(), metadata_bytes());
    text += fmt::format("hbm: {} of {} used, half-life {:.0f} requests ({}){}\n", size(Tier::hbm), room(Tier::hbm),
                        half_life_, adapts() ? "adapted" : "fixed", shadows(tuner_.get()));
    text += fmt::format("hbf: {} of {} used{}\n", size(Tier::hbf), room(Tier::hbf), shadows(lower_tuner_.get()));
    text += fmt::format("cold: {} used; {} ghosts\n", size(Tier::cold), ghosts_.size());
    text += "block tiers score band target uses children parent pinned\n";
    for (BlockId id = 0; id < records_.end(); ++id) {
        const auto facts = this->facts(id);
        if (facts.uses == 0 && tiers_of(flags(id)) == 0) continue;
        const auto decision = decide(id);
        const auto letter = [&](Tier tier, char name) { return has(id, tier) ? name : '-'; };
        text += fmt::format("{} {}{}{} {:.4f} {} {} {} {} {} {}\n", id, letter(Tier::hbm, 'm'), letter(Tier::hbf, 'f'),
                            letter(Tier::cold, 'c'), decision.score, to_string(decision.band), to_string(decision.to),
                            facts.uses, facts.children_hbm + facts.children_hbf,
                            facts.parent == no_block ? std::string("-") : std::to_string(facts.parent), decision.pinned);
    }
    return text;
}

size_t Scheduler::metadata_bytes() const {
    return sizeof *this + records_.bytes() + 4 * Queue::fixed_bytes + (tuner_ ? tuner_->bytes() : 0) +
           (lower_tuner_ ? lower_tuner_->bytes() : 0);
}

} // namespace hbf::kv::placement
