// SPDX-License-Identifier: Apache-2.0
// What the cache knows of heat: accesses come in from readers by a ring (heat_ring.hpp), the scheduler (placement/) says
// what belongs where, and the ledger (heat_ahead.hpp) what fetching ahead was worth. It moves nothing.
//
// All under the cache's lock, but for what says otherwise. A request's first lane makes time pass; the other lanes are used
// at the same moment.
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "core/engine/blocks/block_table.hpp"
#include "core/engine/blocks/heat_ahead.hpp"
#include "core/engine/blocks/heat_ring.hpp"
#include "core/engine/observe/layout.hpp"
#include "core/engine/placement/scheduler.hpp"
#include "hbf/kv.hpp"

namespace hbf::kv {

class Heat {
public:
    struct Options {
        std::string policy;
        bool hbf_tier = false, cold_tier = false;
        uint64_t room[tier_count] = {};         // granules
        uint32_t lanes = 1, block_granules = 1; // of a block of usual size
    };
    // INVALID with the reason: a policy that there is not, settings with which nothing could move.
    static Result<std::unique_ptr<Heat>> make(const Settings &settings, const Options &options);
    static std::span<const std::string_view> policies() noexcept;

    // A lane's blocks were read, head first. `request`: time passes. Of anything with a `block`. [any thread, no lock]
    template <class Entries>
    void used(const Entries &entries, bool request) noexcept {
        std::array<uint32_t, HeatRing::longest> words;
        uint32_t count = 0, begins = request ? begins_request : begins_more;
        for (const auto &entry : entries) {
            words[count] = entry.block | (count == 0 ? begins : 0);
            if (++count < words.size()) continue;
            ring_.push(words);
            count = 0;
            begins = begins_more;
        }
        if (count > 0) ring_.push(std::span(words).first(count));
    }
    bool fetched(BlockId block) const noexcept { return ahead_.is_open(block); }
    // A block is about to be read, from HBM (`here`) or from below. [any thread, no lock]
    void reading(BlockId block, bool here) noexcept {
        if (!ahead_.close(block)) return;
        const uint32_t word = block | was_fetched | (here ? was_here : 0);
        if (!ring_.push({&word, 1})) ahead_.open_again(block);
    }
    // These are read soon. False: there was no room to say so. [any thread, no lock]
    bool hint(std::span<uint32_t> blocks) noexcept {
        if (blocks.empty()) return false;
        blocks[0] |= begins_chain;
        return ring_.push(blocks);
    }
    bool anything() const noexcept { return !ring_.empty(); } // [any thread]
    uint64_t dropped() const noexcept { return ring_.dropped(); }

    // Of a lane, without the ring.
    void use_now(const BlockTable &table, std::span<const BlockId> blocks, bool request);
    void drain(const BlockTable &table);
    // Blocks that were used of late and lie below HBM, in their order; the list is empty then.
    std::vector<BlockId> take_below() {
        std::vector<BlockId> taken(below_.begin(), below_.end());
        below_.clear();
        return taken;
    }
    // Blocks of hints, after those in `chain`.
    void take_chain(std::deque<BlockId> &chain) {
        chain.insert(chain.end(), hinted_.begin(), hinted_.end());
        hinted_.clear();
    }

    // What became of a block of its own bytes.
    void placed(const BlockTable &table, BlockId block, BlockId parent, Tier tier);
    void removed(BlockId block, Tier tier);
    void forget(BlockId block);
    // It is dropped for room, and may come again.
    void remember(BlockId block, const Identity &identity);

    Result<> pin(BlockId block, std::chrono::milliseconds time);
    void expire();

    void describe(BlockId block, observe::BlockValue &value) const; // heat's part of it
    void describe(observe::SchedulerRow &row) const;

    placement::Scheduler &scheduler() { return *scheduler_; }
    const placement::Scheduler &scheduler() const { return *scheduler_; }
    HeatAhead &ahead() { return ahead_; }
    const HeatAhead &ahead() const { return ahead_; }
    bool scored() const { return scored_; }
    void count_query() { ++queries_; }
    uint64_t metadata_bytes() const;

private:
    static constexpr uint32_t begins_request = 1u << 31, begins_more = 1u << 30, was_fetched = 1u << 29, was_here = 1u << 28,
                              begins_chain = 1u << 27, block_bits = (1u << 27) - 1;
    static_assert(uint64_t{BlockTable::per_chunk} * BlockTable::most_chunks <= block_bits);
    static constexpr size_t most_below = 1024;

    struct Ghost {
        uint64_t hash = 0;
        placement::Scheduler::Memory memory;
    };

    Heat(const Settings &settings, const Options &options, std::unique_ptr<placement::Scheduler> scheduler);
    void flush(const BlockTable &table);

    std::unique_ptr<placement::Scheduler> scheduler_;
    const bool scored_;
    HeatRing ring_;
    HeatAhead ahead_;
    std::vector<Ghost> ghosts_; // by the hash of their identity, the latest of each slot
    std::array<placement::PathBlock, HeatRing::longest> path_;
    size_t path_length_ = 0;
    bool path_is_request_ = false, path_is_hint_ = false;
    std::vector<BlockId> below_, hinted_;
    uint64_t queries_ = 0;
};

} // namespace hbf::kv
