// SPDX-License-Identifier: Apache-2.0
#include "core/engine/blocks/heat.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

namespace hbf::kv {
namespace {

constexpr std::string_view known_policies[] = {"ahas", "lru"};

int64_t milliseconds_now() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

// Bytes are with the block that was there first.
BlockId holder_of(const BlockTable &table, BlockId block) {
    const BlockId same = table[block].same_as;
    return same == no_block ? block : same;
}

} // namespace

std::span<const std::string_view> Heat::policies() noexcept {
    return known_policies;
}

Result<std::unique_ptr<Heat>> Heat::make(const Settings &settings, const Options &options) {
    if (std::find(std::begin(known_policies), std::end(known_policies), options.policy) == std::end(known_policies))
        return fail(Code::invalid,
                    fmt::format("policy \"{}\": there are {}", options.policy, fmt::join(known_policies, ", ")));
    placement::SchedulerConfig config;
    config.hbm_room = options.room[0];
    config.hbf_room = options.room[1];
    config.hbf_tier = options.hbf_tier;
    config.cold_tier = options.cold_tier;
    config.most_blocks = uint64_t{BlockTable::per_chunk} * BlockTable::most_chunks;
    config.recency = options.policy == "lru";
    config.alpha = settings.scheduler.ahas_alpha.value_or(0);
    config.of_request = 1.0 / (static_cast<double>(options.block_granules) * options.lanes);
    config.thresholds = {settings.scheduler.hbm_threshold, settings.scheduler.hbf_threshold,
                         settings.scheduler.cold_threshold};
    // What h3.toml says of thresholds holds under pressure too, where it is the stricter.
    config.pressure.crowded_hbf = std::min(config.pressure.crowded_hbf, config.thresholds.hbf);
    if (config.thresholds.cold >= config.pressure.crowded_hbf) config.pressure.crowded_hbf = config.thresholds.hbf;
    auto made = placement::Scheduler::create(config);
    if (!made) return fail(Code::invalid, "scheduler: " + made.error());
    return std::unique_ptr<Heat>(new Heat(settings, options, std::move(*made)));
}

Heat::Heat(const Settings &settings, const Options &options, std::unique_ptr<placement::Scheduler> scheduler)
    : scheduler_(std::move(scheduler)), scored_(options.policy == "ahas"),
      ahead_(settings, options.lanes, (options.room[0] + options.room[1]) / (4 * uint64_t{options.lanes})),
      ghosts_(std::bit_ceil(std::max<uint64_t>(256, (options.room[0] + options.room[1]) / 16))) {
    below_.reserve(most_below);
    hinted_.reserve(most_below);
}

void Heat::flush(const BlockTable &table) {
    if (path_length_ == 0) return;
    const auto path = std::span(path_).first(path_length_);
    path_is_request_ ? scheduler_->use(path) : scheduler_->also(path);
    for (const auto &[block, tokens] : path)
        if (below_.size() < most_below && scheduler_->tier(block) != Tier::hbm && !table[block].lost.load())
            below_.push_back(block);
    path_length_ = 0;
    path_is_request_ = false;
}

void Heat::use_now(const BlockTable &table, std::span<const BlockId> blocks, bool request) {
    flush(table);
    path_is_request_ = request;
    path_is_hint_ = false;
    for (const BlockId block : blocks) {
        path_[path_length_++] = {holder_of(table, block), table[block].capacity};
        if (path_length_ == path_.size()) flush(table);
    }
    flush(table);
}

// Words of blocks that are gone by now, or have become others, are passed over, or count for those: it is heat.
void Heat::drain(const BlockTable &table) {
    ring_.drain(HeatRing::room, [&](uint32_t word) {
        const BlockId block = word & block_bits;
        if ((word & was_fetched) != 0) return ahead_.read(block, (word & was_here) != 0);
        if ((word & (begins_request | begins_more | begins_chain)) != 0) {
            flush(table);
            path_is_request_ = (word & begins_request) != 0;
            path_is_hint_ = (word & begins_chain) != 0;
        }
        if (table.find(block) == nullptr) return;
        if (path_is_hint_) {
            if (hinted_.size() < most_below) hinted_.push_back(block);
            return;
        }
        path_[path_length_++] = {holder_of(table, block), table[block].capacity};
        if (path_length_ == path_.size()) flush(table);
    });
    flush(table);
}

void Heat::placed(const BlockTable &table, BlockId block, BlockId parent, Tier tier) {
    const BlockRecord &record = table[block];
    if (parent != no_block) {
        parent = holder_of(table, parent);
        if (table[parent].first >= record.first) parent = no_block; // no ring, whatever shares bytes with what
    }
    scheduler_->placed(block, parent, tier, record.granules);
    if (!record.identity) return;
    const uint64_t hash = IdentityHash()(record.identity);
    Ghost &ghost = ghosts_[hash & (ghosts_.size() - 1)];
    if (ghost.hash != hash) return;
    scheduler_->remind(block, ghost.memory);
    ghost = {};
}

void Heat::removed(BlockId block, Tier tier) {
    if (tier == Tier::hbm) ahead_.gone(block);
    scheduler_->removed(block, tier);
}

void Heat::forget(BlockId block) {
    ahead_.gone(block);
    scheduler_->forget(block);
}

void Heat::remember(BlockId block, const Identity &identity) {
    const uint64_t hash = IdentityHash()(identity);
    ghosts_[hash & (ghosts_.size() - 1)] = {hash, scheduler_->memory(block)};
}

Result<> Heat::pin(BlockId block, std::chrono::milliseconds time) {
    if (time.count() <= 0) return fail(Code::invalid, fmt::format("a pin of {} ms; it is longer than 0", time.count()));
    // Beyond a century nothing is told apart.
    const auto most = std::chrono::milliseconds(std::chrono::hours(24 * 365 * 100));
    if (auto done = scheduler_->pin(block, milliseconds_now() + std::min(time, most).count()); !done)
        return fail(Code::exhausted, std::move(done.error()));
    return {};
}

void Heat::expire() {
    scheduler_->expire(milliseconds_now());
}

void Heat::describe(BlockId block, observe::BlockValue &value) const {
    const auto decision = scheduler_->decide(block);
    const auto facts = scheduler_->facts(block);
    value.score = static_cast<uint16_t>(std::lround(decision.score * 65535));
    value.heat = static_cast<int16_t>(
        std::clamp<double>(256 * placement::octaves(scheduler_->heat(block) - scheduler_->now()), INT16_MIN, INT16_MAX));
    value.uses = static_cast<uint8_t>(facts.uses);
    value.relevance = facts.relevance;
    value.set_place(static_cast<unsigned>(decision.to), static_cast<unsigned>(decision.band));
    if (facts.pinned) value.set_reason(value.flags() | observe::block_pinned, value.reason());
}

void Heat::describe(observe::SchedulerRow &row) const {
    const auto now = scheduler_->thresholds();
    const auto put = [](observe::Word &word, uint64_t value) { word.store(value, std::memory_order_relaxed); };
    const auto millionths = [](double share) { return static_cast<uint64_t>(std::llround(share * 1e6)); };
    put(row.t_hbm, millionths(now.hbm));
    put(row.t_hbf, millionths(now.hbf));
    put(row.t_cold, millionths(now.cold));
    put(row.full, scheduler_->pressure().full() ? 1 : 0);
    put(row.crowded, scheduler_->pressure().crowded() ? 1 : 0);
    put(row.half_life_milli, static_cast<uint64_t>(std::llround(scheduler_->half_life() * 1000)));
    put(row.half_life_adapted, scheduler_->adapts() ? 1 : 0);
    put(row.queries, queries_);
}

uint64_t Heat::metadata_bytes() const {
    return sizeof *this + scheduler_->metadata_bytes() + ghosts_.size() * sizeof(Ghost) +
           (below_.capacity() + hinted_.capacity()) * sizeof(BlockId) + ahead_.metadata_bytes();
}

} // namespace hbf::kv
