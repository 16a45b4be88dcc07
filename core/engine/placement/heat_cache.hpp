// SPDX-License-Identifier: Apache-2.0
// AHAS at one level: the hottest blocks stay. 32 bytes a block.
//
// Only leaves - blocks without a child that is held - stand in the queue of what may go, so a parent never goes before its
// children, whatever the keys say. A block that went keeps its heat as a ghost; the coldest ghosts are forgotten when there
// are more than the limit.
#pragma once

#include <optional>
#include <vector>

#include "core/engine/placement/heat_queue.hpp"
#include "core/engine/placement/policy.hpp"
#include "core/engine/placement/tuner.hpp"

namespace hbf::kv::placement {

struct HeatOptions {
    double alpha = 0;   // decay per request, 0: adapted (see half_life)
    bool lower = false; // a level that gets what another gives up: learns, too, whether a second use is worth waiting for
    double ghosts = 16; // remembered at most, in capacities
    uint32_t boost_octaves = 4; // what the highest relevance adds, in factors of two of heat
};

class HeatCache final : public Policy {
public:
    HeatCache(size_t capacity, size_t blocks, const HeatOptions &options = {});

    std::string_view name() const override { return "ahas"; }
    void begin(Path path) override;
    bool holds(BlockId id) const override { return (records_[id].flags & held) != 0; }
    void admit(BlockId id, BlockId parent) override;
    BlockId victim(BlockId incoming) override;
    void end(Path path) override;
    bool worth_writing(BlockId id) const override;
    size_t size() const override { return size_; }

    // Takes a block out, but keeps its heat, as victim() does for the one that it finds.
    void give_up(BlockId id);
    // The coldest of those that are not held and for which `may` says yes; no_block if none. Others it meets are looked at
    // again only when they are used or given up.
    template <class May>
    BlockId coldest_ghost(May may) {
        while (true) {
            const BlockId id = ghosts_.coldest();
            if (id == no_block || may(id)) return id;
            ghosts_.remove(id);
            records_[id].flags = static_cast<uint8_t>(records_[id].flags & ~ghost);
        }
    }
    // Takes a block out, from whatever reason. What it was is forgotten; children keep their place.
    void drop(BlockId id);
    // A pinned block is no victim. Once pinned, however often it is called; unpin() ends it.
    void pin(BlockId id);
    void unpin(BlockId id);
    // 0..255 of the scale of boost_octaves, for the block and, where theirs is less, for those before it.
    void set_relevance(BlockId id, uint8_t value);
    void clear_relevance(BlockId id); // of the block and of those before it
    // log2 of the cost to compute a byte again against the cheapest, in 1/8 octaves; handed on as relevance is.
    void set_cost(BlockId id, uint8_t eighths);
    void prefetch(BlockId id) const { __builtin_prefetch(&records_[id], 1); }

    Key heat(BlockId id) const { return key_of_(id); }
    Key now() const { return now_; }
    // The key of what went last: what it takes to stay. Empty while there is room.
    std::optional<Key> fill_line() const { return size_ < capacity() ? std::nullopt : fill_line_; }
    double half_life() const { return half_life_; } // in requests
    bool adapts() const { return tuner_ != nullptr; }
    const Tuner *tuner() const { return tuner_.get(); }
    size_t ghosts() const { return ghosts_.size(); }

    struct Facts {
        Key key;
        BlockId parent;
        uint32_t children, depth, uses;
        uint8_t relevance, cost;
        bool held, ghost, pinned, leaf;
    };
    Facts facts(BlockId id) const;
    size_t bytes() const { return records_.size() * sizeof(Record); }

private:
    enum Flag : uint8_t { held = 1, queued = 2, ghost = 4, pinned = 8 };
    struct Record {
        Key key = never;
        Link link{};
        BlockId parent = no_block;
        uint32_t children = 0; // that are held
        uint16_t depth = 0, stamp = 0;
        uint8_t cost = 0, relevance = 0, uses = 0, flags = 0;
    };
    static_assert(sizeof(Record) == 32);
    struct LinkOf {
        std::vector<Record> *records;
        Link &operator()(BlockId id) const { return (*records)[id].link; }
    };
    struct KeyOf {
        std::vector<Record> *records;
        uint32_t boost;
        Key operator()(BlockId id) const {
            const Record &record = (*records)[id];
            return record.key + record.cost * (octave / 8) + record.relevance * static_cast<Key>(boost) * (octave / 256);
        }
    };

    void queue(BlockId id); // if it may go
    void unqueue(BlockId id);
    void leave(BlockId id);
    void to_ghosts(BlockId id);
    void forget(BlockId id);
    void raise(BlockId id, uint8_t Record::*term, uint8_t value);

    std::vector<Record> records_;
    KeyOf key_of_;
    HeatQueue<LinkOf, KeyOf> queue_, ghosts_;
    std::unique_ptr<Tuner> tuner_;
    std::vector<BlockId> aside_; // of the path, met while looking for a victim
    size_t size_ = 0, ghost_limit_, missing_ = 0;
    Key now_ = 0, pace_;
    double half_life_;
    std::optional<Key> fill_line_;
    BlockId last_admitted_ = no_block;
    uint16_t stamp_ = 0;
};

} // namespace hbf::kv::placement
