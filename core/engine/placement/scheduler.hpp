// SPDX-License-Identifier: Apache-2.0
// AHAS over the tiers: knows how hot each block is, where it has copies, and where it belongs. It moves nothing itself: the
// engine asks, moves, and reports what happened. Every answer comes at once: nothing here waits, so nothing can deadlock.
//
// Blocks are the block table's numbers; a copy stays below when a block comes up (lazy copy), and is written down only if
// there is none. One thread at a time. No call allocates but pin() and the reports.
#pragma once

#include <memory>
#include <queue>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <tl/expected.hpp>

#include "core/engine/placement/bands.hpp"
#include "core/engine/placement/heat_cache.hpp"

namespace hbf::kv::placement {

struct SchedulerConfig {
    size_t hbm_blocks = 0, hbf_blocks = 0; // room
    size_t most_blocks = 0;                // numbers are below it; what is in no tier is remembered as a ghost
    bool cold_tier = true;
    double alpha = 0; // decay of heat per request; 0: adapted online ("auto")
    Thresholds thresholds;
    PressureRules pressure;
    double relevance_octaves = 4;    // by how many factors of two the highest relevance raises heat
    uint32_t relevance_queries = 10; // after how many queries relevance is due again
    double most_pinned = 0.5;        // of a tier
};

struct Relevance {
    BlockId id;
    double value; // 0..1, to the current query
};

struct Decision {
    Tier from, to;
    Band band;
    double score;
    bool pinned;
};

class Scheduler {
public:
    // Refuses what could not work, with the reason: see deadlock_in(); no room in a tier; room for more than it may know.
    static tl::expected<std::unique_ptr<Scheduler>, std::string> create(const SchedulerConfig &config);
    explicit Scheduler(const SchedulerConfig &config); // of a config that create() accepts

    // A request or a decode step used these blocks, head first, wherever they are: one tick of the clock.
    void use(Path path);

    void prefetch(BlockId id) const {
        hbm_.prefetch(id);
        hbf_.prefetch(id);
    }

    // What the engine did. placed(): a copy is published in `tier` (and, `parent` being the block before it, or no_block,
    // there it goes only after its children). removed(): the copy in `tier` is gone. forget(): so is the block.
    tl::expected<void, std::string> placed(BlockId id, BlockId parent, Tier tier);
    void removed(BlockId id, Tier tier);
    void forget(BlockId id);

    bool has(BlockId id, Tier tier) const;
    Tier tier(BlockId id) const;    // the hottest that has it; cold for what is in none
    double score(BlockId id) const; // 0..1; never more than its parent's
    Decision decide(BlockId id) const;

    // The block that leaves `tier` (HBM or HBF) next, counted out at once; put it back with placed() if it cannot go. The
    // error says what holds all of them.
    tl::expected<BlockId, std::string> victim(Tier tier);
    // Where a victim of `tier` is to be written: empty where a copy below makes that needless.
    std::optional<Tier> write_to(BlockId victim, Tier tier) const;
    // The coldest block that is in neither HBM nor HBF: whose number to reuse. no_block if there is none.
    BlockId coldest_ghost();

    // Until `until`, on the caller's clock, the block leaves no tier that has it; a later `until` prolongs. Refused beyond
    // SchedulerConfig::most_pinned. expire() ends those whose time has come.
    tl::expected<void, std::string> pin(BlockId id, int64_t until);
    void unpin(BlockId id);
    void expire(int64_t now);
    size_t pinned() const { return pins_.size(); }

    // Replaces all relevance. A block before a relevant one is at least as relevant.
    void set_relevance(std::span<const Relevance> blocks);
    bool query(); // counts one; true when relevance is due
    // What it costs to compute a byte of it again, against the cheapest there is (at least 1).
    void set_cost(BlockId id, double times);
    void set_pressure(double device_memory_used, uint32_t sequences) { pressure_.update(device_memory_used, sequences); }

    // For people: why a block is where it is, and everything that is known, a line a block.
    std::string explain(BlockId id) const;
    std::string dump() const;
    size_t metadata_bytes() const; // of all blocks
    const HeatCache &level(Tier tier) const { return tier == Tier::hbm ? hbm_ : hbf_; }

private:
    HeatCache &level_of(Tier tier) { return tier == Tier::hbm ? hbm_ : hbf_; }
    double above_line(const HeatCache &level, BlockId id) const; // in octaves
    void count_out(BlockId id, Tier tier);

    SchedulerConfig config_;
    HeatCache hbm_, hbf_;
    std::vector<uint8_t> cold_copy_;
    Pressure pressure_;
    std::unordered_map<BlockId, int64_t> pins_; // until
    using Ending = std::pair<int64_t, BlockId>;
    std::priority_queue<Ending, std::vector<Ending>, std::greater<>> endings_; // old ones are passed over
    std::vector<BlockId> relevant_;
    uint32_t queries_ = 0;
};

} // namespace hbf::kv::placement
