// SPDX-License-Identifier: Apache-2.0
#include "core/engine/placement/scheduler.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace hbf::kv::placement {
namespace {

HeatOptions level_options(const SchedulerConfig &config, bool lower) {
    HeatOptions options;
    options.alpha = config.alpha;
    options.lower = lower;
    options.boost_octaves = static_cast<uint32_t>(std::lround(config.relevance_octaves));
    // Ghosts go when their number is reused, so all are remembered.
    options.ghosts =
        static_cast<double>(config.most_blocks) / static_cast<double>(lower ? config.hbf_blocks : config.hbm_blocks);
    return options;
}

std::optional<std::string> mistake_in(const SchedulerConfig &config) {
    if (config.hbm_blocks == 0) return "no room in HBM: no block could ever be attended there; give it at least one block";
    if (config.hbf_blocks == 0)
        return "no room in HBF: what leaves HBM would have no place to go; give it at least one block";
    if (config.most_blocks < config.hbm_blocks + config.hbf_blocks)
        return fmt::format("room for {} blocks in HBM and {} in HBF, but only {} may be known", config.hbm_blocks,
                           config.hbf_blocks, config.most_blocks);
    if (config.most_blocks > INT32_MAX) return fmt::format("{} blocks: at most 2147483647", config.most_blocks);
    if (config.alpha != 0 && !(config.alpha > 0 && config.alpha < 1))
        return fmt::format(
            "ahas_alpha = {}: \"auto\", or a decay per request between 0 and 1; with 1 nothing would ever cool "
            "down, and the first blocks would keep HBM for ever",
            config.alpha);
    if (!(config.relevance_octaves >= 0 && config.relevance_octaves <= 8))
        return fmt::format("relevance of {} octaves: from 0 to 8", config.relevance_octaves);
    if (!(config.most_pinned >= 0 && config.most_pinned < 1))
        return fmt::format("{} of a tier may be pinned: with all of it pinned nothing could move; from 0 to below 1",
                           config.most_pinned);
    if (config.relevance_queries == 0) return "relevance after every 0 queries: at least 1";
    return deadlock_in(config.thresholds, config.pressure);
}

} // namespace

tl::expected<std::unique_ptr<Scheduler>, std::string> Scheduler::create(const SchedulerConfig &config) {
    if (auto mistake = mistake_in(config)) return tl::unexpected(std::move(*mistake));
    return std::make_unique<Scheduler>(config);
}

Scheduler::Scheduler(const SchedulerConfig &config)
    : config_(config), hbm_(config.hbm_blocks, config.most_blocks, level_options(config, false)),
      hbf_(config.hbf_blocks, config.most_blocks, level_options(config, true)), cold_copy_(config.most_blocks),
      pressure_(config.pressure) {}

void Scheduler::use(Path path) {
    for (HeatCache *level : {&hbm_, &hbf_}) {
        level->begin(path);
        level->end(path);
    }
}

tl::expected<void, std::string> Scheduler::placed(BlockId id, BlockId parent, Tier tier) {
    if (tier == Tier::cold) {
        cold_copy_[id] = 1;
        return {};
    }
    HeatCache &at = level_of(tier);
    if (at.holds(id)) return {};
    if (at.size() >= at.capacity())
        return tl::unexpected(
            fmt::format("block {}: {} is full with {} blocks; ask for a victim first", id, to_string(tier), at.capacity()));
    at.admit(id, parent);
    at.end({});
    if (pins_.contains(id)) at.pin(id);
    return {};
}

void Scheduler::removed(BlockId id, Tier tier) {
    if (tier == Tier::cold)
        cold_copy_[id] = 0;
    else
        count_out(id, tier);
    if (!hbm_.holds(id) && !hbf_.holds(id)) pins_.erase(id);
}

// What is in HBM alone is no ghost of HBF; now it may be.
void Scheduler::count_out(BlockId id, Tier tier) {
    level_of(tier).give_up(id);
    if (!hbf_.holds(id)) hbf_.give_up(id);
}

void Scheduler::forget(BlockId id) {
    hbm_.drop(id);
    hbf_.drop(id);
    cold_copy_[id] = 0;
    pins_.erase(id);
    std::erase(relevant_, id);
}

bool Scheduler::has(BlockId id, Tier tier) const {
    return tier == Tier::cold ? cold_copy_[id] != 0 : level(tier).holds(id);
}

Tier Scheduler::tier(BlockId id) const {
    return hbm_.holds(id) ? Tier::hbm : hbf_.holds(id) ? Tier::hbf : Tier::cold;
}

// While there is room, anything may stay.
double Scheduler::above_line(const HeatCache &level, BlockId id) const {
    const auto line = level.fill_line();
    return line ? octaves(level.heat(id) - *line) : 16;
}

// Above the HBM line 0.95 and up, below the HBF line 0.05 and down, halving what is left with each octave; in between in
// proportion. Grows with heat at either level, so a parent's is never below its child's.
double Scheduler::score(BlockId id) const {
    const double up = above_line(hbm_, id), down = above_line(hbf_, id);
    if (up >= 0) return 1 - 0.05 * std::exp2(-std::min(up, 40.0));
    if (down < 0) return 0.05 * std::exp2(down);
    return 0.05 + 0.90 * down / (down - up);
}

Decision Scheduler::decide(BlockId id) const {
    const double at = score(id);
    const Band band = band_of(at, pressure_.apply(config_.thresholds));
    const Tier from = tier(id);
    const bool pin = pins_.contains(id);
    Tier to = tier_for(from, band);
    if (pin && to > from) to = from;
    if (to == Tier::cold && !config_.cold_tier) to = Tier::hbf;
    return {from, to, band, at, pin};
}

tl::expected<BlockId, std::string> Scheduler::victim(Tier tier) {
    HeatCache &at = level_of(tier);
    if (const BlockId id = at.victim(no_block); id != no_block) {
        count_out(id, tier);
        return id;
    }
    return tl::unexpected(fmt::format("{}: none of its {} blocks may go: {} blocks are pinned, the others are in use by the "
                                      "latest request or come before such a block",
                                      to_string(tier), at.size(), pins_.size()));
}

std::optional<Tier> Scheduler::write_to(BlockId victim, Tier tier) const {
    if (tier == Tier::hbm) {
        if (hbf_.holds(victim)) return std::nullopt;
        if (hbf_.worth_writing(victim)) return Tier::hbf;
    }
    if (cold_copy_[victim] != 0 || !config_.cold_tier) return std::nullopt;
    return Tier::cold;
}

BlockId Scheduler::coldest_ghost() {
    return hbf_.coldest_ghost([&](BlockId id) { return !hbm_.holds(id); });
}

tl::expected<void, std::string> Scheduler::pin(BlockId id, int64_t until) {
    const auto found = pins_.find(id);
    if (found == pins_.end()) {
        const double room = static_cast<double>(hbm_.holds(id) ? config_.hbm_blocks : config_.hbf_blocks);
        if (static_cast<double>(pins_.size() + 1) > config_.most_pinned * room)
            return tl::unexpected(
                fmt::format("block {} cannot be pinned: {} blocks are, and at most {:.0f} % of a tier may be, "
                            "so that something can always move",
                            id, pins_.size(), config_.most_pinned * 100));
        pins_.emplace(id, until);
        for (HeatCache *level : {&hbm_, &hbf_}) {
            if (level->holds(id)) level->pin(id);
        }
    } else {
        found->second = std::max(found->second, until);
    }
    endings_.emplace(pins_.at(id), id);
    return {};
}

void Scheduler::unpin(BlockId id) {
    if (pins_.erase(id) == 0) return;
    hbm_.unpin(id);
    hbf_.unpin(id);
}

void Scheduler::expire(int64_t now) {
    while (!endings_.empty() && endings_.top().first <= now) {
        const auto [until, id] = endings_.top();
        endings_.pop();
        const auto found = pins_.find(id);
        if (found != pins_.end() && found->second <= now) unpin(id);
    }
}

void Scheduler::set_relevance(std::span<const Relevance> blocks) {
    for (const BlockId id : relevant_) {
        hbm_.clear_relevance(id);
        hbf_.clear_relevance(id);
    }
    relevant_.clear();
    for (const auto &[id, value] : blocks) {
        if (!(value > 0)) continue;
        const auto level = static_cast<uint8_t>(std::lround(std::min(value, 1.0) * 255));
        hbm_.set_relevance(id, level);
        hbf_.set_relevance(id, level);
        relevant_.push_back(id);
    }
}

bool Scheduler::query() {
    return ++queries_ % config_.relevance_queries == 0;
}

void Scheduler::set_cost(BlockId id, double times) {
    const auto eighths = static_cast<uint8_t>(std::clamp(std::lround(8 * std::log2(std::max(times, 1.0))), 0L, 255L));
    hbm_.set_cost(id, eighths);
    hbf_.set_cost(id, eighths);
}

} // namespace hbf::kv::placement
