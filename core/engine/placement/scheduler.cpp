// SPDX-License-Identifier: Apache-2.0
#include "core/engine/placement/scheduler.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace hbf::kv::placement {
namespace {

std::optional<std::string> mistake_in(const SchedulerConfig &config) {
    if (config.hbm_room == 0) return "no room in HBM: no block could ever be attended there; give it at least one block";
    if (config.hbf_tier && config.hbf_room == 0)
        return "no room in HBF: what leaves HBM would have no place to go; give it at least one block";
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
    if (!(config.of_request > 0 && config.of_request <= 1))
        return fmt::format("{} of a request's blocks: above 0, at most all of them", config.of_request);
    return deadlock_in(config.thresholds, config.pressure);
}

constexpr double recency_half_life = 16; // each request has a place in line of its own
constexpr double first_half_life = 512;  // where neither is given

// Ghosts beyond four times the room tell candidates apart no more.
std::unique_ptr<Tuner> tuner_for(const SchedulerConfig &config, uint64_t room, bool lower) {
    if (config.alpha > 0 || config.recency || room == 0) return nullptr;
    const auto seen = static_cast<size_t>(std::max(1.0, static_cast<double>(room) * config.of_request));
    return std::make_unique<Tuner>(standard_candidates(lower), standard_candidate, seen,
                                   std::min(config.most_blocks, 4 * seen + 1024));
}

} // namespace

tl::expected<std::unique_ptr<Scheduler>, std::string> Scheduler::create(const SchedulerConfig &config) {
    if (auto mistake = mistake_in(config)) return tl::unexpected(std::move(*mistake));
    return std::make_unique<Scheduler>(config);
}

Scheduler::Scheduler(const SchedulerConfig &config)
    : config_(config), key_of_{&records_, static_cast<uint32_t>(std::lround(config.relevance_octaves))},
      queues_{Queue{{&records_}, key_of_}, Queue{{&records_}, key_of_}, Queue{{&records_}, key_of_}},
      ghosts_({&records_}, key_of_), tuner_(tuner_for(config, config.hbm_room, false)),
      lower_tuner_(tuner_for(config, config.hbf_tier ? config.hbf_room : 0, true)),
      room_{config.hbm_room, config.hbf_room, UINT64_MAX}, half_life_(config.recency     ? recency_half_life
                                                                      : tuner_           ? tuner_->best().half_life
                                                                      : config.alpha > 0 ? half_life_of(config.alpha)
                                                                                         : first_half_life),
      pressure_(config.pressure) {
    pace_ = pace_of(half_life_);
}

void Scheduler::use(Path path) {
    now_ += pace_;
    for (Queue &queue : queues_) queue.advance(now_);
    ghosts_.advance(now_);
    count_uses(path);
    if (lower_tuner_) lower_tuner_->request(path);
    if (!tuner_) return;
    tuner_->request(path);
    if (tuner_->best().half_life == half_life_) return;
    half_life_ = tuner_->best().half_life;
    pace_ = pace_of(half_life_);
}

void Scheduler::also(Path path) {
    count_uses(path);
}

void Scheduler::count_uses(Path path) {
    constexpr size_t ahead = 12;
    for (size_t i = 0; i < path.size(); ++i) {
        if (i + ahead < path.size()) prefetch(path[i + ahead].id);
        const BlockId id = path[i].id;
        if (!records_.knows(id)) continue;
        auto &record = records_[id];
        record.uses = static_cast<uint8_t>(std::min(255, record.uses + 1));
        record.set_key(config_.recency ? now_ : add_use(record.key(), now_));
        if ((record.flags & (in_hbm | in_hbf | in_cold | ghost)) == 0) link(id);
    }
}

void Scheduler::link(BlockId id) {
    auto &record = records_[id];
    if ((record.flags & (queued | ghost)) != 0) return;
    if (tiers_of(record.flags) == 0) {
        if (record.uses == 0) return;
        record.flags |= ghost;
        ghosts_.put(id);
        return;
    }
    const Tier at = home(record.flags);
    if (at != Tier::cold && (record.children_hbm > 0 || (at == Tier::hbf && record.children_hbf > 0))) return;
    if ((record.flags & is_pinned) != 0) return;
    record.flags |= queued;
    queues_[static_cast<size_t>(at)].put(id);
}

void Scheduler::unlink(BlockId id) {
    auto &record = records_[id];
    if ((record.flags & queued) != 0) queues_[static_cast<size_t>(home(record.flags))].remove(id);
    if ((record.flags & ghost) != 0) ghosts_.remove(id);
    record.flags = static_cast<uint8_t>(record.flags & ~(queued | ghost));
}

void Scheduler::count_child(BlockId parent, Tier home, int by) {
    if (home == Tier::cold) return;
    auto &record = records_[parent];
    auto &count = home == Tier::hbm ? record.children_hbm : record.children_hbf;
    count = static_cast<uint16_t>(count + by);
    if (tiers_of(record.flags) != 0) relink(parent);
}

// The block has copies in `tiers` from now on.
void Scheduler::change(BlockId id, uint8_t tiers) {
    auto &record = records_[id];
    const uint8_t before = tiers_of(record.flags);
    if (before == tiers) return;
    unlink(id);
    record.flags = static_cast<uint8_t>((record.flags & ~before) | tiers);
    for (size_t i = 0; i < tier_count; ++i) {
        const bool was = (before >> i & 1) != 0, is = (tiers >> i & 1) != 0;
        if (was && !is) used_[i] -= record.weight;
        if (is && !was) used_[i] += record.weight;
    }
    if (record.parent != no_block && home(before) != home(tiers)) {
        count_child(record.parent, home(before), -1);
        count_child(record.parent, home(tiers), 1);
    }
    link(id);
}

void Scheduler::placed(BlockId id, BlockId parent, Tier tier, uint32_t weight) {
    records_.grow_to(id);
    auto &record = records_[id];
    if ((record.flags & seen) == 0) {
        record.flags |= seen;
        record.weight = static_cast<uint16_t>(std::min<uint32_t>(weight, UINT16_MAX));
        if (record.uses == 0) { // whoever filled it has used it
            record.uses = 1;
            record.set_key(now_);
        }
        const bool counted = parent != no_block && parent != id && (flags(parent) & seen) != 0 &&
                             records_[parent].children_hbm < Records::most_children &&
                             records_[parent].children_hbf < Records::most_children;
        record.parent = counted ? parent : no_block;
    }
    change(id, tiers_of(record.flags) | bit(tier));
}

void Scheduler::removed(BlockId id, Tier tier) {
    if (!records_.knows(id)) return;
    change(id, static_cast<uint8_t>(tiers_of(records_[id].flags) & ~bit(tier)));
    if (tiers_of(records_[id].flags) == 0) unpin(id);
}

// Blocks after it keep counting as its children, and so does the number when it is used again: until they go, it stays.
void Scheduler::forget(BlockId id) {
    if (!records_.knows(id)) return;
    auto &record = records_[id];
    unpin(id);
    change(id, 0);
    unlink(id);
    if (tuner_) tuner_->forget(id);
    if (lower_tuner_) lower_tuner_->forget(id);
    record.parent = no_block;
    record.set_key(Records::Record::never_here);
    record.cost = record.relevance = record.uses = record.flags = 0;
    record.weight = 0;
    std::erase(relevant_, id);
}

void Scheduler::remind(BlockId id, const Memory &memory) {
    if (memory.uses == 0 || !records_.knows(id)) return;
    auto &record = records_[id];
    record.uses = static_cast<uint8_t>(std::min(255, record.uses + memory.uses));
    record.set_key(config_.recency ? record.key() : add_use(std::min(record.key(), memory.key), now_));
}

bool Scheduler::may_come_up(BlockId id) const {
    const BlockId before = parent(id);
    return before == no_block || tiers_of(flags(before)) == 0 || tier(before) == Tier::hbm;
}

std::optional<Key> Scheduler::line(Tier tier) const {
    return full(tier) ? lines_[static_cast<size_t>(tier)] : std::nullopt;
}

// While there is room, anything may stay.
double Scheduler::above_line(Tier tier, BlockId id) const {
    const auto least = line(tier);
    return least ? octaves(heat(id) - *least) : 16;
}

// Above the HBM line 0.95 and up, below the HBF line 0.05 and down, halving what is left with each octave; in between in
// proportion. Grows with heat, so a parent's is never below its child's.
double Scheduler::score(BlockId id) const {
    if (!records_.knows(id)) return 0;
    const double up = above_line(Tier::hbm, id);
    if (up >= 0) return 1 - 0.05 * std::exp2(-std::min(up, 40.0));
    const double down = config_.hbf_tier ? above_line(Tier::hbf, id) : 16;
    if (down < 0) return 0.05 * std::exp2(std::max(down, -40.0));
    return 0.05 + 0.90 * down / (down - up);
}

Decision Scheduler::decide(BlockId id) const {
    const double at = score(id);
    const Band band = band_of(at, thresholds());
    const Tier from = tier(id);
    const bool pin = pins_.contains(id);
    Tier to = tier_for(from, band);
    if (pin && to > from) to = from;
    if (to == Tier::cold && !config_.cold_tier) to = Tier::hbf;
    if (to == Tier::hbf && !config_.hbf_tier) to = from;
    return {from, to, band, at, pin};
}

tl::expected<BlockId, std::string> Scheduler::victim(Tier tier) {
    if (const BlockId id = coldest(tier, [](BlockId) { return true; }); id != no_block) {
        removed(id, tier);
        return id;
    }
    return tl::unexpected(fmt::format("{}: none of its blocks (they weigh {}) may go: {} blocks are pinned, the others have "
                                      "a hotter copy or come before such a block",
                                      to_string(tier), size(tier), pins_.size()));
}

BlockId Scheduler::spare(Tier tier) {
    for (int looked = 0; looked < 64; ++looked) {
        if (++hand_ >= records_.end()) hand_ = 0;
        const uint8_t tiers = tiers_of(flags(hand_));
        if ((tiers & bit(tier)) != 0 && home(tiers) < tier) return hand_;
    }
    return no_block;
}

bool Scheduler::worth_writing(BlockId id) const {
    const auto &record = records_[id];
    if (record.children_hbf > 0) return true; // they would be of no use without it
    if (lower_tuner_ && lower_tuner_->best().second_use && record.uses < 2) return false;
    const auto least = line(Tier::hbf);
    return !least || heat(id) >= *least;
}

std::optional<Tier> Scheduler::write_to(BlockId victim, Tier tier) const {
    const uint8_t tiers = tiers_of(flags(victim));
    if (tier == Tier::hbm && config_.hbf_tier) {
        if ((tiers & in_hbf) != 0) return std::nullopt;
        if (!config_.cold_tier || worth_writing(victim)) return Tier::hbf;
    }
    if ((tiers & in_cold) != 0 || !config_.cold_tier) return std::nullopt;
    return Tier::cold;
}

tl::expected<void, std::string> Scheduler::pin(BlockId id, int64_t until) {
    if (tiers_of(flags(id)) == 0) return tl::unexpected(fmt::format("block {} cannot be pinned: it is in no tier", id));
    const auto found = pins_.find(id);
    if (found == pins_.end()) {
        auto &record = records_[id];
        const Tier at = has(id, Tier::hbm) || !config_.hbf_tier ? Tier::hbm : Tier::hbf;
        if (static_cast<double>(pinned_weight_ + record.weight) > config_.most_pinned * static_cast<double>(room(at)))
            return tl::unexpected(
                fmt::format("block {} cannot be pinned: {} blocks are, and at most {:.0f} % of a tier may be, "
                            "so that something can always move",
                            id, pins_.size(), config_.most_pinned * 100));
        pins_.emplace(id, until);
        pinned_weight_ += record.weight;
        unlink(id);
        record.flags |= is_pinned;
    } else {
        found->second = std::max(found->second, until);
    }
    endings_.emplace(pins_.at(id), id);
    return {};
}

void Scheduler::unpin(BlockId id) {
    if (pins_.erase(id) == 0) return;
    auto &record = records_[id];
    pinned_weight_ -= record.weight;
    record.flags = static_cast<uint8_t>(record.flags & ~is_pinned);
    link(id);
}

std::optional<int64_t> Scheduler::pinned_until(BlockId id) const {
    const auto found = pins_.find(id);
    return found == pins_.end() ? std::nullopt : std::optional(found->second);
}

void Scheduler::expire(int64_t now) {
    while (!endings_.empty() && endings_.top().first <= now) {
        const auto [until, id] = endings_.top();
        endings_.pop();
        const auto found = pins_.find(id);
        if (found != pins_.end() && found->second <= now) unpin(id);
    }
}

// For the block and, where theirs is less, for those before it.
void Scheduler::raise(BlockId id, uint8_t Records::Record::*term, uint8_t value) {
    for (BlockId at = id; at != no_block && records_[at].*term < value; at = records_[at].parent) records_[at].*term = value;
}

// Blocks that lose relevance stand too far back in their line and go the later for it, once.
void Scheduler::set_relevance(std::span<const Relevance> blocks) {
    for (const BlockId id : relevant_)
        for (BlockId at = id; at != no_block && records_[at].relevance != 0; at = records_[at].parent)
            records_[at].relevance = 0;
    relevant_.clear();
    for (const auto &[id, value] : blocks) {
        if (!(value > 0) || !records_.knows(id)) continue;
        raise(id, &Records::Record::relevance, static_cast<uint8_t>(std::lround(std::min(value, 1.0) * 255)));
        relevant_.push_back(id);
    }
}

bool Scheduler::query() {
    return ++queries_ % config_.relevance_queries == 0;
}

void Scheduler::set_cost(BlockId id, double times) {
    if (!records_.knows(id)) return;
    const auto eighths = static_cast<uint8_t>(std::clamp(std::lround(8 * std::log2(std::max(times, 1.0))), 0L, 255L));
    raise(id, &Records::Record::cost, eighths);
}

Scheduler::Facts Scheduler::facts(BlockId id) const {
    if (!records_.knows(id)) return {no_block, 0, 0, 0, 0, 0, 0, false, false};
    const auto &record = records_[id];
    return {record.parent,
            record.children_hbm,
            record.children_hbf,
            record.uses,
            record.weight,
            record.relevance,
            record.cost,
            (record.flags & ghost) != 0,
            (record.flags & is_pinned) != 0};
}

} // namespace hbf::kv::placement
