// SPDX-License-Identifier: Apache-2.0
// AHAS over the tiers: knows how hot each block is, where it has copies, and where it belongs. It moves nothing itself: the
// engine asks, moves, and reports what happened. Every answer comes at once: nothing here waits, so nothing can deadlock.
//
// Blocks are the block table's numbers, and weigh what the engine says (granules). A block has one heat; it stands in the
// line of the hottest tier that has it, and only while no block that comes after it is there or hotter: so a parent never
// goes before its children. A copy stays below when a block comes up (lazy copy), and is written down only if there is none.
//
// 28 bytes a block, in chunks that come as numbers do. One thread at a time. No call allocates but placed() of a number
// beyond those seen, pin(), set_relevance() and the reports.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <tl/expected.hpp>

#include "core/engine/placement/bands.hpp"
#include "core/engine/placement/heat_queue.hpp"
#include "core/engine/placement/policy.hpp"
#include "core/engine/placement/records.hpp"
#include "core/engine/placement/tuner.hpp"

namespace hbf::kv::placement {

struct SchedulerConfig {
    uint64_t hbm_room = 0, hbf_room = 0; // in what blocks weigh
    size_t most_blocks = 0;              // numbers are below it
    bool hbf_tier = true, cold_tier = true;
    bool recency = false;  // only the last use counts: leaf-first LRU, for comparison
    double alpha = 0;      // decay of heat per request; 0: adapted online ("auto")
    double of_request = 1; // share of a tier that serves what use() sees of a request (also() sees the rest)
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
    // Refuses what could not work, with the reason: see deadlock_in(); no room in a tier.
    static tl::expected<std::unique_ptr<Scheduler>, std::string> create(const SchedulerConfig &config);
    explicit Scheduler(const SchedulerConfig &config); // of a config that create() accepts

    // A request or a decode step used these blocks, each once, head first, wherever they are: one tick of the clock. also():
    // and these, at the same moment. Numbers that were never placed count for nothing.
    void use(Path path);
    void also(Path path);
    void prefetch(BlockId id) const { records_.prefetch(id); }

    // What the engine did. placed(): a copy is published in `tier`. `parent` is the block before it, or no_block; the first
    // that is told holds until forget(). removed(): the copy in `tier` is gone. forget(): so is the block.
    void placed(BlockId id, BlockId parent, Tier tier, uint32_t weight = 1);
    void reserve(BlockId id) { records_.grow_to(id); } // so that placed() does not allocate
    void removed(BlockId id, Tier tier);
    void forget(BlockId id);

    bool has(BlockId id, Tier tier) const { return (flags(id) & bit(tier)) != 0; }
    Tier tier(BlockId id) const { return home(flags(id)); } // the hottest that has it; cold for what is in none
    BlockId parent(BlockId id) const { return records_.knows(id) ? records_[id].parent : no_block; }
    double score(BlockId id) const; // 0..1; never more than its parent's
    Decision decide(BlockId id) const;
    // May it come up to HBM: is what comes before it there?
    bool may_come_up(BlockId id) const;

    // The coldest block whose hottest tier is `tier` and for which `may` says yes; it stays, behind those as cold as it is.
    // no_block: none of the first 64. What it takes to stay there is more heat than that from now on.
    template <class May>
    BlockId coldest(Tier tier, const May &may) {
        const BlockId id = look(queues_[static_cast<size_t>(tier)], may);
        if (id != no_block) lines_[static_cast<size_t>(tier)] = heat(id);
        return id;
    }
    // As coldest(), to see how cold it is.
    template <class May>
    BlockId peek(Tier tier, const May &may) {
        return look(queues_[static_cast<size_t>(tier)], may);
    }
    // The block that leaves `tier` (HBM or HBF) next, counted out at once. The error says what holds all of them.
    tl::expected<BlockId, std::string> victim(Tier tier);
    // A block with a copy in `tier` (HBF) and one in a hotter tier: the copy is spared first. Looks round the numbers, at a
    // few of them each time; no_block: none of those.
    BlockId spare(Tier tier);
    // Where a victim of `tier` is to be written: empty where a copy below makes that needless.
    std::optional<Tier> write_to(BlockId victim, Tier tier) const;
    // The coldest block that is in no tier: whose number to reuse. no_block if there is none.
    BlockId coldest_ghost() { return ghosts_.coldest(); }

    // What is remembered of a block under another name when it is forgotten, and given to the one that comes in its place.
    struct Memory {
        Key key = never;
        uint8_t uses = 0;
    };
    Memory memory(BlockId id) const { return {records_[id].key(), records_[id].uses}; }
    void remind(BlockId id, const Memory &memory);

    // Until `until`, on the caller's clock, the block leaves no tier that has it; a later `until` prolongs. Refused beyond
    // SchedulerConfig::most_pinned. expire() ends those whose time has come.
    tl::expected<void, std::string> pin(BlockId id, int64_t until);
    void unpin(BlockId id);
    void expire(int64_t now);
    size_t pinned() const { return pins_.size(); }
    std::optional<int64_t> pinned_until(BlockId id) const;

    // Replaces all relevance. A block before a relevant one is at least as relevant.
    void set_relevance(std::span<const Relevance> blocks);
    bool query(); // counts one; true when relevance is due
    // What it costs to compute a byte of it again, against the cheapest there is (at least 1).
    void set_cost(BlockId id, double times);
    void set_pressure(double device_memory_used, uint32_t sequences) { pressure_.update(device_memory_used, sequences); }
    void set_room(Tier tier, uint64_t room) { room_[static_cast<size_t>(tier)] = room; }

    uint64_t size(Tier tier) const { return used_[static_cast<size_t>(tier)]; } // what its blocks weigh
    uint64_t room(Tier tier) const { return room_[static_cast<size_t>(tier)]; }
    bool full(Tier tier, uint32_t weight = 1) const { return size(tier) + weight > room(tier); }
    Key heat(BlockId id) const { return key_of_(id); }
    Key now() const { return now_; }
    double half_life() const { return half_life_; } // in requests
    bool adapts() const { return tuner_ != nullptr; }
    Thresholds thresholds() const { return pressure_.apply(config_.thresholds); } // as they hold now
    const Pressure &pressure() const { return pressure_; }

    struct Facts {
        BlockId parent;
        uint32_t children_hbm, children_hbf, uses, weight;
        uint8_t relevance, cost;
        bool ghost, pinned;
    };
    Facts facts(BlockId id) const;

    // For people: why a block is where it is, and everything that is known, a line a block.
    std::string explain(BlockId id) const;
    std::string dump() const;
    size_t metadata_bytes() const; // of all blocks

private:
    using Queue = HeatQueue<Records::LinkOf, Records::KeyOf>;
    enum Flag : uint8_t { in_hbm = 1, in_hbf = 2, in_cold = 4, queued = 8, ghost = 16, is_pinned = 32, seen = 64 };
    static constexpr uint8_t tiers_of(uint8_t flags) { return flags & (in_hbm | in_hbf | in_cold); }
    static constexpr uint8_t bit(Tier tier) { return static_cast<uint8_t>(1 << static_cast<unsigned>(tier)); }
    static constexpr Tier home(uint8_t flags) {
        return (flags & in_hbm) != 0 ? Tier::hbm : (flags & in_hbf) != 0 ? Tier::hbf : Tier::cold;
    }
    uint8_t flags(BlockId id) const { return records_.knows(id) ? records_[id].flags : uint8_t{0}; }

    template <class May>
    BlockId look(Queue &queue, const May &may) {
        std::array<BlockId, 64> passed;
        size_t count = 0;
        BlockId found = no_block;
        while (count < passed.size() && found == no_block) {
            const BlockId id = queue.coldest();
            if (id == no_block) break;
            queue.remove(id);
            passed[count++] = id;
            if (may(id)) found = id;
        }
        for (size_t i = 0; i < count; ++i) queue.put(passed[i]);
        return found;
    }

    void count_uses(Path path);
    void link(BlockId id); // into the line where it belongs, if any
    void unlink(BlockId id);
    void relink(BlockId id) { unlink(id), link(id); }
    void change(BlockId id, uint8_t tiers);
    void count_child(BlockId parent, Tier home, int by);
    std::optional<Key> line(Tier tier) const; // what it takes to stay; empty while there is room
    double above_line(Tier tier, BlockId id) const;
    bool worth_writing(BlockId id) const;
    void raise(BlockId id, uint8_t Records::Record::*term, uint8_t value);
    std::string heat_text(Tier tier, BlockId id) const;

    SchedulerConfig config_;
    Records records_;
    Records::KeyOf key_of_;
    std::array<Queue, tier_count> queues_;
    Queue ghosts_;
    std::unique_ptr<Tuner> tuner_, lower_tuner_; // of the half-life, and of whether HBF waits for a second use
    std::array<uint64_t, tier_count> used_{}, room_{};
    std::array<std::optional<Key>, tier_count> lines_;
    Key now_ = 0, pace_ = 0;
    double half_life_ = 0;
    Pressure pressure_;
    std::unordered_map<BlockId, int64_t> pins_; // until
    uint64_t pinned_weight_ = 0;
    using Ending = std::pair<int64_t, BlockId>;
    std::priority_queue<Ending, std::vector<Ending>, std::greater<>> endings_; // old ones are passed over
    std::vector<BlockId> relevant_;
    uint32_t queries_ = 0;
    BlockId hand_ = 0; // of spare()
};

} // namespace hbf::kv::placement
